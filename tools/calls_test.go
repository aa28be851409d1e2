package tools_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

type ctxType = context.Context

const runCode = "workspace__w__run_code"

func args(code string) []byte { return fmt.Appendf(nil, `{"language":"python","code":%q}`, code) }

func TestSameCall(t *testing.T) {
	ci := &fake{}
	ci.script = func(context.Context, string) (codeinterp.Result, error) {
		return ok(out(fmt.Sprintf("run %d\n", ci.ran()))), nil
	}
	set := newSet(t, ci, nil)
	call := func(id, code string) string {
		return set.Dispatch(t.Context(), runCode, args(code), &tools.DispatchOptions{ID: id}).Result.Stdout()
	}
	for _, tt := range []struct{ id, code, want string }{
		{"a", "x", "run 1\n"},
		{"a", "x", "run 1\n"},
		{"b", "x", "run 2\n"},
		{"a", "y", "run 3\n"}, // some servers use an id again: it is another call
		{"", "x", "run 4\n"},
		{"", "x", "run 5\n"},
		{"a", "x", "run 1\n"},
	} {
		if got := call(tt.id, tt.code); got != tt.want {
			t.Errorf("%q %s: got %q, want %q", tt.id, tt.code, got, tt.want)
		}
	}
}

// TestSameCallOfAnother: ids are one client's own, and so are the answers.
func TestSameCallOfAnother(t *testing.T) {
	ci := &fake{}
	ci.script = func(context.Context, string) (codeinterp.Result, error) {
		return ok(out(fmt.Sprintf("run %d\n", ci.ran()))), nil
	}
	set := newSet(t, ci, nil)
	for _, tt := range []struct{ client, want string }{{"a", "run 1\n"}, {"b", "run 2\n"}, {"a", "run 1\n"}, {"b", "run 2\n"}} {
		ctx := tools.WithClient(t.Context(), tt.client)
		if got := set.Dispatch(ctx, runCode, args("x"), &tools.DispatchOptions{ID: "0"}).Result.Stdout(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.client, got, tt.want)
		}
	}
}

// TestSameCallAtOnce: duplicates wait for the first; one that gives up does not
// disturb it.
func TestSameCallAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci := &fake{script: func(context.Context, string) (codeinterp.Result, error) {
			time.Sleep(time.Hour)
			return ok(out("done")), nil
		}}
		set := newSet(t, ci, nil)
		var same atomic.Int32
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: "a"}).Text == "ok\n--- stdout ---\ndone\n" {
					same.Add(1)
				}
			})
		}
		synctest.Wait()
		cause := errors.New("gone")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		r := set.Dispatch(ctx, runCode, args("x"), &tools.DispatchOptions{ID: "a"})
		if r.Failure == nil || r.Failure.Code != tools.CodeCanceled || !errors.Is(r.Err, cause) {
			t.Errorf("got %s, %v", r.Text, r.Err)
		}
		wg.Wait()
		if same.Load() != 10 || ci.ran() != 1 {
			t.Errorf("%d the same, ran %d times", same.Load(), ci.ran())
		}
	})
}

// TestNotRemembered: a call that did not run may be sent again, also by those
// that waited for it.
func TestNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci := &fake{}
		ci.script = func(context.Context, string) (codeinterp.Result, error) {
			time.Sleep(time.Second)
			if ci.ran() < 3 {
				return codeinterp.NotRun(), codeinterp.ErrCapacity
			}
			return ok(), nil
		}
		set := newSet(t, ci, nil)
		var capacity, good atomic.Int32
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				r := set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: "a"})
				switch {
				case r.Failure == nil:
					good.Add(1)
				case r.Failure.Code == tools.CodeCapacity:
					capacity.Add(1)
				}
			})
		}
		wg.Wait()
		if capacity.Load() != 2 || good.Load() != 3 || ci.ran() != 3 {
			t.Errorf("%d without capacity, %d good, ran %d times", capacity.Load(), good.Load(), ci.ran())
		}
	})
}

// TestPartial: a run that its caller ended is told as what it is, and is not
// remembered.
// TestAbandonedCallRunsAgain: a run that was canceled with its connection is
// not the outcome of the same call that comes again, nor of one that waits.
func TestAbandonedCallRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ci := &fake{}
		ci.script = func(ctx context.Context, _ string) (codeinterp.Result, error) {
			select {
			case <-ctx.Done():
				return codeinterp.Result{Status: codeinterp.StatusCanceled, ExitCode: codeinterp.ExitCanceled}, context.Cause(ctx)
			case <-time.After(time.Hour):
				return ok(out("done")), nil
			}
		}
		set := newSet(t, ci, nil)
		call := func(ctx context.Context) *tools.Answer {
			return set.Dispatch(ctx, runCode, args("x"), &tools.DispatchOptions{ID: "a"})
		}
		ctx, lose := context.WithCancel(t.Context())
		first, waits := make(chan *tools.Answer, 1), make(chan *tools.Answer, 1)
		go func() { first <- call(ctx) }()
		synctest.Wait()
		go func() { waits <- call(t.Context()) }()
		synctest.Wait()
		lose()
		if r := <-first; r.Result == nil || r.Result.Status != codeinterp.StatusCanceled {
			t.Errorf("the lost call: %s", r.Text)
		}
		for _, r := range []*tools.Answer{<-waits, call(t.Context())} {
			if r.Result == nil || r.Result.Stdout() != "done" {
				t.Errorf("the same call: %s", r.Text)
			}
		}
		if n := ci.ran(); n != 2 {
			t.Errorf("%d runs, want 2: one that was lost, one for both", n)
		}
	})
}

func TestPartial(t *testing.T) {
	ci := &fake{script: func(ctx context.Context, _ string) (codeinterp.Result, error) {
		<-ctx.Done()
		return codeinterp.Result{Status: codeinterp.StatusCanceled, ExitCode: 130, Outputs: []codeinterp.Output{out("half\n")}}, context.Cause(ctx)
	}}
	set := newSet(t, ci, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		r := set.Dispatch(ctx, runCode, args("x"), &tools.DispatchOptions{ID: "a"})
		if r.Failure != nil || !errors.Is(r.Err, context.Canceled) || r.Text != "canceled, exit code 130: stopped because the call was canceled\n--- stdout ---\nhalf\n" {
			t.Errorf("got %q, %v", r.Text, r.Err)
		}
	}
	if ci.ran() != 2 {
		t.Errorf("ran %d times", ci.ran())
	}
}

// TestFailedOnce: a tool that failed in its own words may have done something: it does not
// run again for the same call.
func TestFailedOnce(t *testing.T) {
	for code, want := range map[string]int{tools.CodeFailed: 1, tools.CodeInternal: 1, tools.CodeUnavailable: 2} {
		runs := 0
		set, err := tools.NewSet([]tools.Tool{{Name: "send", Invoke: func(context.Context, tools.Invocation) *tools.Answer {
			runs++
			return &tools.Answer{Failure: &tools.Failure{Code: code, Message: "no"}}
		}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			set.Dispatch(t.Context(), "send", nil, &tools.DispatchOptions{ID: "a"})
		}
		if runs != want {
			t.Errorf("%s: ran %d times", code, runs)
		}
	}
}

func TestPanics(t *testing.T) {
	ci := &fake{script: func(context.Context, string) (codeinterp.Result, error) { panic("oops at /home/me") }}
	var kinds []tools.RunEventKind
	set := newSet(t, ci, &tools.Options{OnEvent: func(e tools.RunEvent) error { kinds = append(kinds, e.Kind); return nil }})
	for range 2 {
		r := set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: "a"})
		if r.Failure == nil || r.Failure.Code != tools.CodeInternal || strings.Contains(r.Text, "oops") || !strings.Contains(r.Err.Error(), "oops") {
			t.Errorf("got %s, %v", r.Text, r.Err)
		}
	}
	if ci.ran() != 1 || len(kinds) != 2 || kinds[1] != tools.RunEnd {
		t.Errorf("ran %d times, events %v", ci.ran(), kinds)
	}
}

// TestMemory: the calls that are remembered stay within their bounds, and are
// remembered longer than their Results.
func TestMemory(t *testing.T) {
	ci := &fake{script: fixed(ok(out(strings.Repeat("0123456\n", 1<<17))))}
	list, err := tools.ForCode("w", ci, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(list, &tools.SetOptions{RememberCalls: 20, RememberBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	call := func(i int) *tools.Answer {
		return set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: fmt.Sprint(i)})
	}
	var texts []string
	for i := range 30 {
		texts = append(texts, call(i).Text)
	}
	if n := ci.ran(); n != 30 {
		t.Fatalf("ran %d times", n)
	}
	whole := 0
	for i := 10; i < 30; i++ {
		r := call(i)
		if r.Text != texts[i] || r.Result == nil || r.CallID != fmt.Sprint(i) || len(r.JSON()) == 0 {
			t.Errorf("call %d: %+v", i, r)
		}
		if r.Result.Stdout() != "" {
			whole++
		} else if len(r.Result.Truncated) == 0 {
			t.Errorf("call %d does not tell what it lacks", i)
		}
	}
	if n := ci.ran(); n != 30 || whole < 1 || whole > 4 {
		t.Errorf("ran %d times, %d are whole", n, whole)
	}
	if call(0); ci.ran() != 31 {
		t.Error("call 0 is still remembered")
	}
}

// TestOwnTools: a program's own tools stand beside ours.
// TestToolThatEndsItsGoroutine: the same call, which waits for it, is then made.
func TestToolThatEndsItsGoroutine(t *testing.T) {
	var calls atomic.Int32
	begun, end := make(chan struct{}), make(chan struct{})
	set, err := tools.NewSet([]tools.Tool{{Name: "ends", Invoke: func(context.Context, tools.Invocation) *tools.Answer {
		if calls.Add(1) == 1 {
			close(begun)
			<-end
			runtime.Goexit()
		}
		return &tools.Answer{Text: "done"}
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func() *tools.Answer {
		return set.Dispatch(t.Context(), "ends", []byte(`{}`), &tools.DispatchOptions{ID: "a"})
	}
	go call()
	<-begun
	close(end)
	if r := call(); r.Text != "done" || calls.Load() != 2 {
		t.Errorf("%+v, %d calls", r, calls.Load())
	}
}

func TestOwnTools(t *testing.T) {
	calls := 0
	set, err := tools.NewSet([]tools.Tool{
		{Name: "add", Invoke: func(_ context.Context, c tools.Invocation) *tools.Answer {
			calls++
			return &tools.Answer{Text: string(c.Args), Data: c.Args}
		}},
		{Name: "broken", Invoke: func(context.Context, tools.Invocation) *tools.Answer { return nil }},
	}, &tools.SetOptions{RememberCalls: -1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := set.Dispatch(t.Context(), "add", []byte(`[1]`), &tools.DispatchOptions{ID: "a"})
		if r.CallID != "a" || r.Tool != "add" || string(r.JSON()) != `[1]` {
			t.Errorf("got %+v", r)
		}
	}
	if calls != 2 {
		t.Errorf("called %d times", calls)
	}
	if r := set.Dispatch(t.Context(), "broken", nil, nil); r.Failure == nil || r.Failure.Code != tools.CodeInternal {
		t.Errorf("got %+v", r)
	}
	if got := set.Tools(); len(got) != 2 || got[0].Name != "add" {
		t.Errorf("got %v", got)
	}
}

func TestSets(t *testing.T) {
	call := func(context.Context, tools.Invocation) *tools.Answer { return &tools.Answer{} }
	for _, tt := range []struct {
		name string
		list []tools.Tool
		want string
	}{
		{"own", []tools.Tool{{Name: "a", Invoke: call}, {Name: "b", Invoke: call}}, ""},
		{"twice", []tools.Tool{{Name: "a", Invoke: call}, {Name: "a", Invoke: call}}, "too much alike"},
		{"case", []tools.Tool{{Name: "run", Invoke: call}, {Name: "Run", Invoke: call}}, "too much alike"},
		{"no call", []tools.Tool{{Name: "a"}}, "no Invoke"},
		{"bad name", []tools.Tool{{Name: "a b", Invoke: call}}, `"a b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tools.NewSet(tt.list, nil)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestFailures: every error of an interpreter has its code and says what to do.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code string
		says string
	}{
		{codeinterp.ErrLanguage, tools.CodeLanguage, "language not supported"},
		{codeinterp.ErrContext, tools.CodeContext, "create a new one"},
		{codeinterp.ErrInvalid, tools.CodeInvalid, "invalid input"},
		{codeinterp.ErrClosed, tools.CodeClosed, "cannot be used any more"},
		{codeinterp.ErrCapacity, tools.CodeCapacity, "send the call again"},
		{codeinterp.ErrUnavailable, tools.CodeUnavailable, "may work later"},
		{codeinterp.ErrIsolation, tools.CodeIsolation, "operator"},
		{codeinterp.ErrRefused, tools.CodeRefused, "ask the user"},
		{context.Canceled, tools.CodeCanceled, "did not run"},
		{errors.New("x"), tools.CodeInternal, "no fault of the call"},
	} {
		ci := &fake{script: func(context.Context, string) (codeinterp.Result, error) {
			return codeinterp.NotRun(), &codeinterp.Error{Provider: "fake", Op: "run", Err: tt.err}
		}}
		r := newSet(t, ci, nil).Dispatch(t.Context(), runCode, args("x"), nil)
		if r.Failure == nil || r.Failure.Code != tt.code || !strings.Contains(r.Text, tt.says) || !errors.Is(r.Err, tt.err) || r.Result != nil {
			t.Errorf("%v: got %s", tt.err, r.Text)
		}
	}
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	ci := &fake{script: func(ctx context.Context, _ string) (codeinterp.Result, error) {
		return codeinterp.NotRun(), context.Cause(ctx)
	}}
	if r := newSet(t, ci, nil).Dispatch(ctx, runCode, args("x"), nil); r.Failure == nil || r.Failure.Code != tools.CodeCanceled {
		t.Errorf("got %s", r.Text)
	}
}
