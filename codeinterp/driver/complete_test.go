package driver_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A completing fake completes.
type completing struct {
	*fake
	complete func(ctx context.Context, code string, cursor int) (codeinterp.Completion, error)
}

func (c completing) Describe() codeinterp.Info {
	info := c.fake.Describe()
	info.Languages[0].Completion = true
	return info
}

func (c completing) Complete(ctx context.Context, _ driver.Session, code string, cursor int) (codeinterp.Completion, error) {
	return c.complete(ctx, code, cursor)
}

func completer(t *testing.T, f func(ctx context.Context, code string, cursor int) (codeinterp.Completion, error)) (*driver.Stateful, codeinterp.Completer, codeinterp.ContextID) {
	t.Helper()
	ci := driver.NewStateful(completing{&fake{}, f}, driver.Config{})
	c, ok := codeinterp.Completions(ci)
	if !ok {
		t.Fatal("no Completions")
	}
	return ci, c, create(t, ci)
}

// TestCompletionBounds: what a runtime says is bounded, and does nothing to a
// terminal.
func TestCompletionBounds(t *testing.T) {
	many := make([]string, 3*codeinterp.MaxMatches)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	const code = "é.ab"
	for _, tt := range []struct {
		name string
		says codeinterp.Completion
		want []string // nil: an error
		more bool
	}{
		{"as it is", codeinterp.Completion{Matches: []string{"abc", "abd"}, Start: 3, End: 5}, []string{"abc", "abd"}, false},
		{"not to be shown", codeinterp.Completion{Matches: []string{"ab\x1b[31m", "ab\n", "ab\xff", "", "ab\u202e", "abc", "abc"}, Start: 3, End: 5}, []string{"abc"}, false},
		{"too many", codeinterp.Completion{Matches: many, Start: 3, End: 5}, many[:codeinterp.MaxMatches], true},
		{"none", codeinterp.Completion{Start: -7, End: 99}, []string{}, false},
		{"in a character", codeinterp.Completion{Matches: []string{"x"}, Start: 1, End: 5}, nil, false},
		{"past the end", codeinterp.Completion{Matches: []string{"x"}, Start: 3, End: 6}, nil, false},
		{"behind the cursor", codeinterp.Completion{Matches: []string{"x"}, Start: 6, End: 6}, nil, false},
	} {
		ci, c, id := completer(t, func(context.Context, string, int) (codeinterp.Completion, error) { return tt.says, nil })
		got, err := c.Complete(t.Context(), id, code, len(code))
		if tt.want == nil {
			if !errors.Is(err, codeinterp.ErrUnavailable) || got.Start != len(code) {
				t.Errorf("%s: %+v, %v", tt.name, got, err)
			}
		} else if err != nil || !slices.Equal(got.Matches, tt.want) || got.More != tt.more {
			t.Errorf("%s: %d matches, more %v, %v", tt.name, len(got.Matches), got.More, err)
		}
		ci.Close()
	}
}

// TestCompletionEnds: what a completion waits for, and who does not wait for it.
func TestCompletionEnds(t *testing.T) {
	slow := func(ctx context.Context, _ string, _ int) (codeinterp.Completion, error) {
		<-ctx.Done()
		return codeinterp.Completion{}, errors.New("given up")
	}
	synctest.Test(t, func(t *testing.T) {
		ci, c, id := completer(t, slow)
		complete := func() chan error {
			done := make(chan error, 1)
			go func() {
				_, err := c.Complete(t.Context(), id, "x", 1)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		begin := time.Now()
		if err := <-complete(); !errors.Is(err, codeinterp.ErrUnavailable) || time.Since(begin) != 5*time.Second {
			t.Errorf("a slow runtime: %v after %v", err, time.Since(begin))
		}
		done := complete()
		run := start(ci, t.Context(), id, "ok x", nil) // waits for it
		synctest.Wait()
		if err := <-complete(); !errors.Is(err, codeinterp.ErrCapacity) {
			t.Errorf("with a run that waits: %v", err)
		}
		<-done
		if <-run.done; !run.res.OK() || run.res.StateLost || run.res.ExecutionCount != 1 {
			t.Errorf("%+v, %v", run.res, run.err)
		}
		done = complete()
		if err := ci.DeleteContext(t.Context(), id); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, codeinterp.ErrContext) {
			t.Errorf("a context that is deleted meanwhile: %v", err)
		}
		bare, err := ci.CreateContext(t.Context(), "fake", nil)
		if err != nil {
			t.Fatal(err)
		}
		id = bare
		done = complete()
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, codeinterp.ErrClosed) {
			t.Errorf("closed meanwhile: %v", err)
		}
	})
}

// TestCompletionStuck: a session that does not return is given up, and the next run
// tells that the state is gone.
func TestCompletionStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := make(chan struct{})
		ci, c, id := completer(t, func(context.Context, string, int) (codeinterp.Completion, error) {
			<-back
			return codeinterp.Completion{}, nil
		})
		if res, err := ci.RunInContext(t.Context(), id, "ok x", nil); err != nil || !res.OK() {
			t.Fatal(res, err)
		}
		if _, err := c.Complete(t.Context(), id, "x", 1); !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		if res, err := ci.RunInContext(t.Context(), id, "ok x", nil); err != nil || !res.StateLost {
			t.Errorf("%+v, %v", res, err)
		}
		close(back)
		synctest.Wait()
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
	})
}
