package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Completer is a Runtime that completes code in the languages whose
// LanguageInfo.Completion is set. Its interpreters have
// [codeinterp.Completions].
type Completer interface {
	// Complete returns what could stand at the cursor, according to the state of s, or
	// an empty Completion. It is called between runs, as Session.Run is, and must
	// neither run code nor change the state. If it cannot ensure that when ctx is
	// done, it ends the state, and the Outcome of the next Run is Fresh. The driver
	// bounds and filters the result.
	Complete(ctx context.Context, s Session, code string, cursor int) (codeinterp.Completion, error)
}

// completeLimit bounds a completion.
const completeLimit = 5 * time.Second

var (
	errBusy = fmt.Errorf("%w: a run is in progress; code is completed between runs", codeinterp.ErrCapacity)
	errSlow = fmt.Errorf("%w: there was no completion within %v", codeinterp.ErrUnavailable, completeLimit)
)

// A completer is the codeinterp.Completer of an interpreter whose runtime is a
// Completer. Stateful itself cannot implement it, since other runtimes have none.
type completer struct {
	*Stateful
	rt Completer
}

// completes returns the Completer of an interpreter that has one.
func (i *Stateful) completes() (codeinterp.Completer, bool) {
	rt, ok := i.rt.(Completer)
	ok = ok && slices.ContainsFunc(i.languages, func(l codeinterp.LanguageInfo) bool { return l.Completion && l.Contexts })
	return completer{i, rt}, ok
}

// Complete implements codeinterp.Completer.
func (i completer) Complete(ctx context.Context, id codeinterp.ContextID, code string, cursor int) (codeinterp.Completion, error) {
	none := codeinterp.Completion{Start: max(cursor, 0), End: max(cursor, 0)}
	c, err := i.complete(ctx, id, code, cursor)
	switch {
	case err != nil:
		return none, i.wrapped(ctx, codeinterp.OpComplete, err)
	case len(c.Matches) == 0:
		return none, nil
	}
	return c, nil
}

func (i completer) complete(ctx context.Context, id codeinterp.ContextID, code string, cursor int) (c codeinterp.Completion, err error) {
	if err := codeinterp.CheckComplete(code, cursor); err != nil {
		return c, err
	}
	s, err := i.find(ctx, id)
	if err == nil {
		err = i.pause.check()
	}
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
	// Only a run may start or reset the session.
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

// acquireIdle is acquire that fails with errBusy if a run is in progress or queued.
func (s *slot) acquireIdle(ctx context.Context) error {
	return s.acquireUnless(ctx, nil, func() error {
		if s.current != nil || slices.ContainsFunc(s.queue, func(w *waiter) bool { return w.run != nil }) {
			return errBusy
		}
		return nil
	})
}

// checkCompletion checks and bounds what a runtime returned.
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

// showable reports whether a text can be shown without effects on a terminal.
func showable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
