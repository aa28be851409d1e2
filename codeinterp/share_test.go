package codeinterp_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
)

// sharedFake is an interpreter whose program "block" runs until its context is deleted
// or its ctx ends.
type sharedFake struct {
	mu     sync.Mutex
	n      int
	live   map[codeinterp.ContextID]chan struct{}
	closed bool
}

func newSharedFake() *sharedFake {
	return &sharedFake{live: map[codeinterp.ContextID]chan struct{}{}}
}

func (*sharedFake) Languages() []string { return []string{"fake"} }
func (f *sharedFake) Close() error      { f.closed = true; return nil }

func (f *sharedFake) RunCode(ctx context.Context, _, code string, _ *codeinterp.RunOptions) (codeinterp.Result, error) {
	return f.run(ctx, code, nil)
}

func (f *sharedFake) run(ctx context.Context, code string, gone chan struct{}) (codeinterp.Result, error) {
	if code != "block" {
		return codeinterp.Result{Status: codeinterp.StatusOK}, nil
	}
	select {
	case <-ctx.Done():
		return codeinterp.Result{Status: codeinterp.StatusCanceled, ExitCode: codeinterp.ExitCanceled}, context.Cause(ctx)
	case <-gone:
		return codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: codeinterp.ExitKilled, StateLost: true}, codeinterp.ErrContext
	}
}

func (f *sharedFake) CreateContext(context.Context, string, *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	id := codeinterp.ContextID(fmt.Sprint("c", f.n))
	f.live[id] = make(chan struct{})
	return id, nil
}

func (f *sharedFake) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, _ *codeinterp.RunOptions) (codeinterp.Result, error) {
	f.mu.Lock()
	gone := f.live[id]
	f.mu.Unlock()
	if gone == nil {
		return codeinterp.NotRun(), codeinterp.ErrContext
	}
	return f.run(ctx, code, gone)
}

func (f *sharedFake) DeleteContext(_ context.Context, id codeinterp.ContextID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[id] == nil {
		return codeinterp.ErrContext
	}
	close(f.live[id])
	delete(f.live, id)
	return nil
}

func (f *sharedFake) ListContexts(context.Context) (list []codeinterp.ContextInfo, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.live {
		list = append(list, codeinterp.ContextInfo{ID: id})
	}
	return list, nil
}
func (*sharedFake) RestartContext(context.Context, codeinterp.ContextID) error   { return nil }
func (*sharedFake) InterruptContext(context.Context, codeinterp.ContextID) error { return nil }

func share(t *testing.T, ci codeinterp.CodeInterpreter) codeinterp.StatefulInterpreter {
	t.Helper()
	s, ok := codeinterp.Stateful(codeinterp.Share(ci))
	if !ok {
		t.Fatal("the share has no contexts")
	}
	return s
}

func create(t *testing.T, s codeinterp.StatefulInterpreter) codeinterp.ContextID {
	t.Helper()
	id, err := s.CreateContext(t.Context(), "fake", nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestShareSeparatesHolders: contract row 15, contexts belong to the holder that
// created them.
func TestShareSeparatesHolders(t *testing.T) {
	f := newSharedFake()
	alice, bob := share(t, f), share(t, f)
	id := create(t, alice)
	if _, err := bob.RunInContext(t.Context(), id, "", nil); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("another holder's run: %v", err)
	}
	if err := bob.DeleteContext(t.Context(), id); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("another holder's delete: %v", err)
	}
	m, _ := codeinterp.Manager(bob)
	if err := m.InterruptContext(t.Context(), id); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("another holder's interrupt: %v", err)
	}
	if list, err := m.ListContexts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("another holder's list: %v, %v", list, err)
	}
	mine, _ := codeinterp.Manager(alice)
	if list, _ := mine.ListContexts(t.Context()); len(list) != 1 || list[0].ID != id {
		t.Errorf("the holder's list: %v", list)
	}
	if res, err := alice.RunInContext(t.Context(), id, "", nil); err != nil || !res.OK() {
		t.Errorf("the holder's run: %v, %v", res.Status, err)
	}
}

// TestShareClose: contract row 15, Close deletes what its holder created and nothing
// else; row 2 for the runs in progress.
func TestShareClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSharedFake()
		alice, bob := share(t, f), share(t, f)
		id, other := create(t, alice), create(t, bob)
		type end struct {
			res codeinterp.Result
			err error
		}
		ends := make(chan end, 2)
		go func() {
			res, err := alice.RunInContext(t.Context(), id, "block", nil)
			ends <- end{res, err}
		}()
		go func() {
			res, err := alice.RunCode(t.Context(), "fake", "block", nil)
			ends <- end{res, err}
		}()
		synctest.Wait()
		if err := alice.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if e := <-ends; e.res.Status != codeinterp.StatusLost || !errors.Is(e.err, codeinterp.ErrClosed) {
				t.Errorf("a run under Close: %s, %v", e.res.Status, e.err)
			}
		}
		if f.closed || f.live[id] != nil || f.live[other] == nil {
			t.Errorf("after Close: closed %v, live %v", f.closed, f.live)
		}
		if _, err := alice.CreateContext(t.Context(), "fake", nil); !errors.Is(err, codeinterp.ErrClosed) {
			t.Errorf("create after Close: %v", err)
		}
		if _, err := alice.RunCode(t.Context(), "fake", "\x00", nil); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("invalid code after Close: %v", err)
		}
		if res, err := bob.RunInContext(t.Context(), other, "", nil); err != nil || !res.OK() {
			t.Errorf("the other holder's run: %v, %v", res.Status, err)
		}
		if err := alice.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

// TestShareCloseWithinOnOutput: a run that cannot return before Close does makes Close
// report it.
func TestShareCloseWithinOnOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := codeinterp.Share(&echo{})
		var err error
		_, _ = s.RunCode(t.Context(), "echo", "x", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
			err = s.Close()
			return nil
		}})
		if !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("Close within OnOutput: %v", err)
		}
	})
}
