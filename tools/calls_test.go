package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools"
)

type ctxType = context.Context

const runCode = "workspace__w__run_code"

func args(code string) []byte { return fmt.Appendf(nil, `{"language":"python","code":%q}`, code) }

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

func TestPanics(t *testing.T) {
	ci := &fake{script: func(context.Context, string) (codeinterp.Result, error) { panic("oops at /home/me") }}
	var kinds []observe.Kind
	set := watched{newSet(t, ci, nil), func(e observe.Event) error { kinds = append(kinds, e.Kind); return nil }}
	for range 2 {
		r := set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: "a"})
		if r.Failure == nil || r.Failure.Code != tools.CodeInternal || strings.Contains(r.Text, "oops") || !strings.Contains(r.Err.Error(), "oops") {
			t.Errorf("got %s, %v", r.Text, r.Err)
		}
	}
	if ci.ran() != 2 || len(kinds) != 4 || kinds[1] != observe.End {
		t.Errorf("ran %d times, events %v", ci.ran(), kinds)
	}
}

// TestOwnTools: a program's own tools stand beside ours.
func TestOwnTools(t *testing.T) {
	calls := 0
	set, err := tools.NewSet([]tools.Tool{
		{Name: "add", Invoke: func(_ context.Context, c tools.Invocation) *tools.Answer {
			calls++
			return &tools.Answer{Text: string(c.Args), Data: c.Args}
		}},
		{Name: "broken", Invoke: func(context.Context, tools.Invocation) *tools.Answer { return nil }},
	}, nil)
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
