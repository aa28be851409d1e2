package tools_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools"
)

// counting returns an interpreter whose runs print their number.
func counting() *fake {
	ci := &fake{}
	ci.script = func(context.Context, string) (codeinterp.Result, error) {
		return ok(out(fmt.Sprint(ci.ran()))), nil
	}
	return ci
}

func remembering(t *testing.T, ci codeinterp.CodeInterpreter, opts *tools.Options, o *tools.SetOptions) *tools.Set {
	t.Helper()
	list, err := tools.ForCode("w", ci, opts)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(list, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestRepeatedID: without being asked for, nothing is answered from memory: many
// servers count the ids of calls from zero in each turn.
// Contract row 27.
func TestRepeatedID(t *testing.T) {
	ci := counting()
	set := newSet(t, ci, nil)
	asked := remembering(t, ci, nil, &tools.SetOptions{RememberFor: time.Hour})
	for want := 1; want < 9; want++ {
		s, opts := set, &tools.DispatchOptions{ID: "call_0", Turn: "1"}
		if want > 4 {
			s, opts = asked, &tools.DispatchOptions{ID: "call_0"}
		}
		if a := s.Dispatch(t.Context(), runCode, args("x"), opts); a.Result.Stdout() != fmt.Sprint(want) || a.Remembered {
			t.Errorf("call %d: run %s, remembered %v", want, a.Result.Stdout(), a.Remembered)
		}
	}
}

// TestRemembered: the same call within a turn is answered from memory for some
// time, and the answer and an event say so.
func TestRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci := counting()
		var events []observe.Kind
		set := watched{remembering(t, ci, nil, &tools.SetOptions{RememberFor: time.Minute}), func(e observe.Event) error { events = append(events, e.Kind); return nil }}
		for _, tt := range []struct {
			client, turn, id, code string
			wait                   time.Duration
			want                   string
			remembered             bool
		}{
			{"c", "1", "a", "x", 0, "1", false},
			{"c", "1", "a", "x", 59 * time.Second, "1", true},
			{"c", "1", "b", "x", 0, "2", false},
			{"c", "1", "a", "y", 0, "3", false},
			{"c", "2", "a", "x", 0, "4", false},
			{"d", "1", "a", "x", 0, "5", false},
			{"c", "1", "", "x", 0, "6", false},
			{"c", "1", "", "x", 0, "7", false},
			{"c", "1", "a", "x", time.Minute, "8", false},
		} {
			time.Sleep(tt.wait)
			a := set.Dispatch(callers.With(t.Context(), tt.client), runCode, args(tt.code), &tools.DispatchOptions{ID: tt.id, Turn: tt.turn})
			if got := a.Result.Stdout(); got != tt.want || a.Remembered != tt.remembered {
				t.Errorf("%+v: run %s, remembered %v", tt, got, a.Remembered)
			}
			if last := events[len(events)-1]; (last == observe.Remembered) != tt.remembered {
				t.Errorf("%+v: the last event is %v", tt, last)
			}
		}
	})
}

// TestRememberedAtOnce: a call waits for the same call in progress. One whose
// caller went away is not remembered, nor what did not run; a tool that failed
// in its own words is.
func TestRememberedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		end := func(context.Context) *tools.Answer { return &tools.Answer{Text: "done"} }
		set, err := tools.NewSet([]tools.Tool{{Name: "f", Invoke: func(ctx context.Context, _ tools.Invocation) *tools.Answer {
			runs++
			return end(ctx)
		}}}, &tools.SetOptions{RememberFor: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		turn := 0
		// twice makes the same call twice at once, and once more afterwards.
		twice := func(first func(context.Context) *tools.Answer) (n int, last *tools.Answer) {
			turn++
			runs = 0
			later := end
			end = func(ctx context.Context) *tools.Answer { end = later; time.Sleep(time.Second); return first(ctx) }
			opts := &tools.DispatchOptions{ID: "a", Turn: fmt.Sprint(turn)}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			for range 2 {
				go set.Dispatch(ctx, "f", nil, opts)
				synctest.Wait()
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			n = runs
			return n, set.Dispatch(t.Context(), "f", nil, opts)
		}
		failed := func(code string) func(context.Context) *tools.Answer {
			return func(context.Context) *tools.Answer { return &tools.Answer{Failure: &tools.Failure{Code: code}} }
		}
		for name, tt := range map[string]struct {
			first func(context.Context) *tools.Answer
			runs  int
		}{
			"ok":          {end, 1},
			"failed":      {failed(tools.CodeFailed), 1},
			"internal":    {failed(tools.CodeInternal), 1},
			"unavailable": {failed(tools.CodeUnavailable), 2},
			"goexit":      {func(context.Context) *tools.Answer { runtime.Goexit(); return nil }, 2},
			"canceled": {func(ctx context.Context) *tools.Answer {
				<-ctx.Done()
				return &tools.Answer{Result: &codeinterp.Result{Status: codeinterp.StatusCanceled}, Err: context.Cause(ctx)}
			}, 1},
		} {
			n, last := twice(tt.first)
			if n != tt.runs || last.Remembered == (name == "canceled") {
				t.Errorf("%s: %d runs, then remembered %v", name, n, last.Remembered)
			}
		}
	})
}

// TestMemoryBounds: at most 64 calls are remembered.
func TestMemoryBounds(t *testing.T) {
	set := remembering(t, counting(), nil, &tools.SetOptions{RememberFor: time.Hour})
	call := func(i int) bool {
		return set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: fmt.Sprint(i), Turn: "t"}).Remembered
	}
	for i := range 65 {
		call(i)
	}
	if !call(64) || !call(1) || call(0) {
		t.Error("not the last 64 are remembered")
	}
}
