package workspace_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/workspace"
)

// A pausable fake sleeps for what its code says, and knows whether it is paused.
type pausable struct {
	*fake
	paused atomic.Bool
	fails  error
	slow   time.Duration // until a pause
}

func newPausable() *pausable {
	p := &pausable{fake: newFake("python")}
	p.script = func(_ context.Context, code string, _ *codeinterp.RunOptions) (codeinterp.Result, error) {
		if p.paused.Load() {
			return codeinterp.NotRun(), codeinterp.ErrPaused
		}
		d, _ := time.ParseDuration(code)
		time.Sleep(d)
		return codeinterp.Result{Status: codeinterp.StatusOK}, nil
	}
	return p
}

func (p *pausable) Pause(context.Context) error {
	time.Sleep(p.slow)
	p.paused.Store(p.fails == nil)
	return p.fails
}

func (p *pausable) Resume(context.Context) error {
	p.paused.Store(false)
	return nil
}

func sleep(ws *workspace.Workspace, code string) error {
	_, err := ws.Code().RunCode(context.Background(), "python", code, nil)
	return err
}

// TestPause: in a pause calls are ErrPaused, or end it.
func TestPause(t *testing.T) {
	for _, auto := range []bool{false, true} {
		p := newPausable()
		ws := open(t, workspace.Capabilities{Code: p}, &workspace.Options{AutoResume: auto})
		if err := ws.Pause(t.Context()); err != nil || !p.paused.Load() {
			t.Fatal(err)
		}
		if err := sleep(ws, "0s"); errors.Is(err, codeinterp.ErrPaused) == auto || p.paused.Load() == auto {
			t.Errorf("auto %v: %v", auto, err)
		}
		if err := ws.Resume(t.Context()); err != nil || p.paused.Load() {
			t.Error(err)
		}
		if err := sleep(ws, "0s"); err != nil {
			t.Error(err)
		}
	}
}

// TestPauseWaits: who waits for another pause waits no longer than its ctx.
func TestPauseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPausable()
		p.slow = time.Hour
		ws := open(t, workspace.Capabilities{Code: p}, nil)
		done := make(chan error)
		go func() { done <- ws.Pause(context.Background()) }()
		synctest.Wait()
		for _, f := range []func(context.Context) error{ws.Pause, ws.Resume} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestPauseAll: all interpreters pause, or none.
func TestPauseAll(t *testing.T) {
	p, q := newPausable(), newPausable()
	q.fails = codeinterp.ErrUnavailable
	ws := open(t, workspace.Capabilities{Code: p, Beside: map[string]codeinterp.CodeInterpreter{"other": q}}, nil)
	if err := ws.Pause(t.Context()); !errors.Is(err, codeinterp.ErrUnavailable) || p.paused.Load() || q.paused.Load() {
		t.Errorf("%v, %v, %v", err, p.paused.Load(), q.paused.Load())
	}
	ws = open(t, workspace.Capabilities{Code: newPausable(), Beside: map[string]codeinterp.CodeInterpreter{"other": newFake("lua")}}, nil)
	if err := ws.Pause(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// TestIdlePause: a workspace pauses once nothing has run for the time, and not earlier.
func TestIdlePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPausable()
		ws := open(t, workspace.Capabilities{Code: p}, &workspace.Options{IdlePause: time.Minute, AutoResume: true})
		time.Sleep(61 * time.Second)
		if !p.paused.Load() {
			t.Error("it is not paused after its start")
		}
		for range 3 {
			if err := sleep(ws, "1h"); err != nil || p.paused.Load() {
				t.Error(err)
			}
			time.Sleep(59 * time.Second)
			if err := sleep(ws, "1s"); err != nil || p.paused.Load() {
				t.Error(err)
			}
			time.Sleep(61 * time.Second)
			if !p.paused.Load() {
				t.Error("it is not paused")
			}
		}
		if err := ws.Resume(t.Context()); err != nil || p.paused.Load() {
			t.Error(err)
		}
		time.Sleep(61 * time.Second)
		if !p.paused.Load() {
			t.Error("it is not paused again")
		}
	})
}
