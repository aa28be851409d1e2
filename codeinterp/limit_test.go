package codeinterp_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// seen records the options that reach the provider.
func seen(opts **codeinterp.RunOptions) codeinterp.Middleware {
	return func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			*opts = c.Run
			return next(ctx, c)
		}
	}
}

func TestLimitOptions(t *testing.T) {
	limit := codeinterp.Limit(&codeinterp.LimitOptions{Code: 10, Timeout: time.Minute, Output: 1000})
	for _, tt := range []struct {
		name    string
		code    string
		opts    *codeinterp.RunOptions
		want    codeinterp.RunOptions
		wantErr error
	}{
		{"nil options", "x", nil, codeinterp.RunOptions{Timeout: time.Minute, MaxOutput: 1000}, nil},
		{"defaults", "x", &codeinterp.RunOptions{}, codeinterp.RunOptions{Timeout: time.Minute, MaxOutput: 1000}, nil},
		{"within", "x", &codeinterp.RunOptions{Timeout: time.Second, MaxOutput: 10}, codeinterp.RunOptions{Timeout: time.Second, MaxOutput: 10}, nil},
		{"all output", "x", &codeinterp.RunOptions{MaxOutput: -1}, codeinterp.RunOptions{Timeout: time.Minute, MaxOutput: 1000}, nil},
		{"too long", "x", &codeinterp.RunOptions{Timeout: time.Hour}, codeinterp.RunOptions{}, codeinterp.ErrInvalid},
		{"too large", "01234567890", nil, codeinterp.RunOptions{}, codeinterp.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *codeinterp.RunOptions
			e := &echo{}
			res, err := codeinterp.Wrap(e, limit, seen(&got)).RunCode(t.Context(), "echo", tt.code, tt.opts)
			if !errors.Is(err, tt.wantErr) {
				t.Fatalf("err = %v, want %v", err, tt.wantErr)
			}
			if tt.wantErr != nil {
				if res.Status != codeinterp.StatusNotRun || e.runs.Load() != 0 {
					t.Errorf("status %v after %d runs, want not_run", res.Status, e.runs.Load())
				}
				return
			}
			if got.Timeout != tt.want.Timeout || got.MaxOutput != tt.want.MaxOutput {
				t.Errorf("provider got %+v, want %+v", *got, tt.want)
			}
		})
	}
}

func TestLimitRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		busy := func(next codeinterp.Handler) codeinterp.Handler {
			return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				time.Sleep(time.Second)
				return next(ctx, c)
			}
		}
		ci := codeinterp.Wrap(&echo{}, codeinterp.Limit(&codeinterp.LimitOptions{Runs: 2, Queue: 3}), busy)
		var wg sync.WaitGroup
		var full atomic.Int32
		for range 7 {
			wg.Go(func() {
				if _, err := ci.RunCode(t.Context(), "echo", "", nil); errors.Is(err, codeinterp.ErrCapacity) {
					full.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most.Load() != 2 || full.Load() != 2 {
			t.Errorf("%d at once and %d refused, want 2 and 2", most.Load(), full.Load())
		}
	})
}

func TestLimitQueueIsCancellable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{}
		ci := codeinterp.Wrap(e, codeinterp.Limit(&codeinterp.LimitOptions{Runs: 1}))
		first, stop := context.WithCancel(t.Context())
		go ci.RunCode(first, "echo", "sleep", nil)
		synctest.Wait()

		why := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		res, err := ci.RunCode(ctx, "echo", "", nil)
		if !errors.Is(err, why) || res.Status != codeinterp.StatusNotRun {
			t.Errorf("res = %v, err = %v", res.Status, err)
		}
		stop()
		if _, err := ci.RunCode(t.Context(), "echo", "", nil); err != nil {
			t.Errorf("after the queue emptied: %v", err)
		}
		if n := e.runs.Load(); n != 2 {
			t.Errorf("%d runs, want 2", n)
		}
	})
}

func TestLimitNoQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci := codeinterp.Wrap(&echo{}, codeinterp.Limit(&codeinterp.LimitOptions{Runs: 1, Queue: -1}))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go ci.RunCode(ctx, "echo", "sleep", nil)
		synctest.Wait()
		if _, err := ci.RunCode(t.Context(), "echo", "", nil); !errors.Is(err, codeinterp.ErrCapacity) {
			t.Errorf("err = %v, want ErrCapacity", err)
		}
	})
}

func TestLimitContexts(t *testing.T) {
	s, _ := codeinterp.Stateful(codeinterp.Wrap(&echoStateful{}, codeinterp.Limit(&codeinterp.LimitOptions{Contexts: 1})))
	ctx := t.Context()
	id, err := s.CreateContext(ctx, "echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateContext(ctx, "echo", nil); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("second context: %v, want ErrCapacity", err)
	}
	if err := s.DeleteContext(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateContext(ctx, "echo", nil); err != nil {
		t.Errorf("after delete: %v", err)
	}
}

// TestLimitIsDescribed finds in each field the strictest of all layers.
func TestLimitIsDescribed(t *testing.T) {
	limit := func(o codeinterp.LimitOptions) codeinterp.Middleware { return codeinterp.Limit(&o) }
	ci := codeinterp.Wrap(&echoAll{}, limit(codeinterp.LimitOptions{Timeout: time.Minute, Code: 10, Runs: 3}),
		limit(codeinterp.LimitOptions{Timeout: time.Hour, Contexts: 4}))
	ci = codeinterp.Wrap(ci, limit(codeinterp.LimitOptions{Timeout: 2 * time.Minute, Output: 5, Contexts: 2}))
	want := codeinterp.Limits{Timeout: time.Minute, Output: 5, Code: 10, Contexts: 2}
	if got := codeinterp.Describe(ci).Limits; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := codeinterp.Describe(codeinterp.Stateless(ci)).Limits; got != want {
		t.Errorf("hidden: got %+v, want %+v", got, want)
	}
}
