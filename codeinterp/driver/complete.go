package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Completer is a Runtime that completes code in the languages whose
// LanguageInfo.Completion is set. Its interpreters have
// [codeinterp.Completions].
type Completer interface {
	// Complete says what could stand at the cursor, with what s's state has; an
	// empty Completion where s has none just now. It is called between two runs,
	// as Session.Run is. It runs nothing and changes nothing of the state; where
	// it cannot be sure of that when ctx is done, it ends the state, and the next
	// Run's Outcome is Fresh. What it returns may be too much, double, or not to be
	// shown: the driver sees to that.
	Complete(ctx context.Context, s Session, code string, cursor int) (codeinterp.Completion, error)
}

// completeLimit is how long people wait for a completion at most.
const completeLimit = 5 * time.Second

var (
	errBusy = fmt.Errorf("%w: a run is in progress, and code is completed between two", codeinterp.ErrCapacity)
	errSlow = fmt.Errorf("%w: there was no completion within %v", codeinterp.ErrUnavailable, completeLimit)
)

// A completing is the codeinterp.Completer of an interpreter whose runtime is a
// Completer. The others have none, so it is not Stateful itself.
type completing struct {
	*Stateful
	rt Completer
}

// completes returns the Completer of an interpreter that has one.
func (i *Stateful) completes() (codeinterp.Completer, bool) {
	rt, ok := i.rt.(Completer)
	ok = ok && slices.ContainsFunc(i.languages, func(l codeinterp.LanguageInfo) bool {
		return l.Completion && slices.Contains(i.withContexts, l.Name)
	})
	return completing{i, rt}, ok
}

// Complete implements codeinterp.Completer.
func (i completing) Complete(ctx context.Context, id codeinterp.ContextID, code string, cursor int) (codeinterp.Completion, error) {
	none := codeinterp.Completion{Start: max(cursor, 0), End: max(cursor, 0)}
	c, err := i.complete(ctx, id, code, cursor)
	switch {
	case err != nil:
		return none, i.wrap(ctx, codeinterp.OpComplete, err)
	case len(c.Matches) == 0:
		return none, nil
	}
	return c, nil
}

func (i completing) complete(ctx context.Context, id codeinterp.ContextID, code string, cursor int) (c codeinterp.Completion, err error) {
	if err := codeinterp.CheckComplete(code, cursor); err != nil {
		return c, err
	}
	s, err := i.find(ctx, id)
	if err != nil {
		return c, err
	}
	if !slices.ContainsFunc(i.languages, func(l codeinterp.LanguageInfo) bool { return l.Completion && l.Name == s.opts.Language }) {
		return c, fmt.Errorf("%w: %s code cannot be completed here", codeinterp.ErrInvalid, s.opts.Language)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, completeLimit, errSlow)
	defer cancel()
	if err := s.acquireIdle(ctx); err != nil {
		return c, err
	}
	defer s.release()
	session := s.session
	// Nothing is in such a state, and the next run alone may start or reset it.
	if session == nil || s.resetPending {
		return c, nil
	}
	c, err = callInSlot(s, ctx, func(ctx context.Context) (codeinterp.Completion, error) {
		return i.rt.Complete(ctx, session, code, cursor)
	}, func(codeinterp.Completion, error) { s.closeReturned(session) })
	switch ended := s.checkFilesOpen(); {
	case errors.Is(err, errStuck):
		s.countStuck()
		s.setSession(nil)
	case err != nil && ended != nil:
		err = ended
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil:
		err = checkCompletion(&c, code, cursor)
	}
	return c, err
}

// acquireIdle is acquire for what waits for no run.
func (s *slot) acquireIdle(ctx context.Context) error {
	return s.acquireUnless(ctx, nil, func() error {
		if s.current != nil || slices.ContainsFunc(s.queue, func(w *waiter) bool { return w.run != nil }) {
			return errBusy
		}
		return nil
	})
}

// checkCompletion bounds what a runtime said.
func checkCompletion(c *codeinterp.Completion, code string, cursor int) error {
	boundary := func(n int) bool { return codeinterp.CheckComplete(code, n) == nil }
	if len(c.Matches) > 0 && (c.Start > cursor || c.End < cursor || !boundary(c.Start) || !boundary(c.End)) {
		return fmt.Errorf("%w: the runtime completes %d to %d of code of %d bytes, with the cursor at %d", codeinterp.ErrUnavailable, c.Start, c.End, len(code), cursor)
	}
	seen := make(map[string]bool, min(len(c.Matches), codeinterp.MaxMatches))
	matches := make([]string, 0, min(len(c.Matches), codeinterp.MaxMatches))
	for _, m := range c.Matches {
		switch {
		case m == "" || len(m) > codeinterp.MaxMatch || !showable(m) || seen[m]:
		case len(matches) == codeinterp.MaxMatches:
			c.More = true
		default:
			seen[m] = true
			matches = append(matches, m)
		}
	}
	c.Matches = matches
	return nil
}

// showable reports whether a text can be shown without doing anything else to a
// terminal, or to how what stands beside it is read.
func showable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
