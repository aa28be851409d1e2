package codeinterp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// maxShareClose bounds how long Close of a share waits for runs to return.
const maxShareClose = 5 * time.Second

// Share returns a view of ci for one holder, such as one user of a server that has one
// interpreter for all. The view has what ci has, except for the contexts of others: a
// context belongs to the holder that created it; for every other holder its id is
// ErrContext and lists leave it out.
//
// Close ends what the holder started and deletes the contexts that it created, and
// nothing else: ci stays open and belongs to whoever made it. Runs in progress end
// StatusLost with ErrClosed. A nil error means that no code of the holder's is running
// any more. Called from OnOutput of a RunCode of the same view, Close returns an error
// after five seconds, because that run cannot return before OnOutput does.
func Share(ci CodeInterpreter) CodeInterpreter {
	h := &holder{contexts: map[ContextID]bool{}}
	h.life, h.end = context.WithCancelCause(context.Background())
	if s, ok := Stateful(ci); ok {
		h.remove = s.DeleteContext
	}
	return view{Wrap(ci, h.middleware), nil, sync.OnceValue(h.close), hidesPauser}.withContexts()
}

// A holder owns the contexts and runs of one share.
type holder struct {
	remove func(context.Context, ContextID) error // nil without contexts
	life   context.Context                        // ends with close
	end    context.CancelCauseFunc
	calls  sync.WaitGroup

	mu       sync.Mutex
	contexts map[ContextID]bool
	closed   bool
}

func (h *holder) middleware(next Handler) Handler {
	return func(ctx context.Context, c Call) (Reply, error) {
		if c.Op == OpDescribe || c.Op.Calls() {
			r, err := next(ctx, c)
			if info, ok := r.Value.(Info); ok {
				info.Pause = ""
				r.Value = info
			}
			return r, err
		}
		h.mu.Lock()
		closed := h.closed
		if closed || c.Context != "" && !h.contexts[c.Context] {
			h.mu.Unlock()
			return Reply{Result: NotRun()}, &Error{Provider: "share", Op: c.Op.String(), Err: refusal(ctx, c, closed)}
		}
		h.calls.Add(1)
		h.mu.Unlock()
		defer h.calls.Done()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(h.life, func() { cancel(ErrClosed) })()
		r, err := next(ctx, c)
		return h.finish(c, r, err)
	}
}

// finish records what a call created or deleted.
func (h *holder) finish(c Call, r Reply, err error) (Reply, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case c.Op == OpList:
		r.Contexts = slices.DeleteFunc(slices.Clone(r.Contexts), func(i ContextInfo) bool { return !h.contexts[i.ID] })
	case err == nil && c.Op.Creates():
		if h.contexts[r.Context] = true; h.closed {
			// close has to delete it: it waits for this call, and looks again then.
			return Reply{}, &Error{Provider: "share", Op: c.Op.String(), Err: ErrClosed}
		}
	case err == nil && c.Op.Deletes(), !h.closed && c.Context != "" && errors.Is(err, ErrContext):
		delete(h.contexts, c.Context)
	}
	if h.closed && c.Op.Runs() && r.Result.Status == StatusCanceled && errors.Is(err, ErrClosed) {
		r.Result.Status, r.Result.ExitCode, r.Result.Cause = StatusLost, ExitKilled, CauseClosed
		r.Result.StateLost = c.Context != ""
	}
	if h.closed && errors.Is(err, ErrContext) {
		err = &Error{Provider: "share", Op: c.Op.String(), Err: ErrClosed}
	}
	return r, err
}

// close ends the runs, deletes the contexts and waits for both.
func (h *holder) close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	// Deleting first ends the runs of contexts as lost, not as canceled.
	err := h.removeAll()
	h.end(ErrClosed)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		h.calls.Wait()
	}()
	select {
	case <-returned:
	case <-time.After(maxShareClose):
		err = errors.Join(err, fmt.Errorf("%w: a run has not returned; its program may still be running", ErrUnavailable))
	}
	// A context that was being created meanwhile.
	if err := errors.Join(err, h.removeAll()); err != nil {
		return &Error{Provider: "share", Op: "close", Err: err}
	}
	return nil
}

// removeAll deletes the holder's contexts, several at a time.
func (h *holder) removeAll() error {
	h.mu.Lock()
	ids := make([]ContextID, 0, len(h.contexts))
	for id := range h.contexts {
		ids = append(ids, id)
	}
	h.mu.Unlock()
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			if err := h.remove(context.Background(), id); err != nil && !errors.Is(err, ErrContext) {
				errs[i] = err
				return
			}
			h.mu.Lock()
			delete(h.contexts, id)
			h.mu.Unlock()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
