package codeinterp_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

func TestApprove(t *testing.T) {
	noRm := func(_ context.Context, r codeinterp.Call) error {
		if strings.Contains(r.Code, "rm") {
			return errors.New("deleting files is not allowed; list them instead")
		}
		if strings.Contains(r.Code, "boom") {
			panic("boom")
		}
		return nil
	}
	e := &echoStateful{}
	s, _ := codeinterp.Stateful(codeinterp.Wrap(e, codeinterp.Approve(noRm)))
	id, err := s.CreateContext(t.Context(), "echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RunInContext(t.Context(), id, "ls", nil); err != nil {
		t.Errorf("allowed code: %v", err)
	}
	before := e.runs.Load()
	res, err := s.RunInContext(t.Context(), id, "rm *", nil)
	if !errors.Is(err, codeinterp.ErrRefused) || !strings.Contains(err.Error(), "list them instead") || res.Status != codeinterp.StatusNotRun {
		t.Errorf("res = %v, err = %v", res.Status, err)
	}
	if _, err := s.RunCode(t.Context(), "echo", "rm", nil); !errors.Is(err, codeinterp.ErrRefused) {
		t.Errorf("RunCode: %v", err)
	}
	if _, err := s.RunCode(t.Context(), "echo", "boom", nil); !errors.Is(err, codeinterp.ErrRefused) {
		t.Errorf("panicking policy: %v, want ErrRefused", err)
	}
	if n := e.runs.Load(); n != before {
		t.Errorf("refused code ran %d times", n-before)
	}
}

func TestApproveKnowsTheLanguageOfContexts(t *testing.T) {
	var got []codeinterp.Call
	s, _ := codeinterp.Stateful(codeinterp.Wrap(&echoStateful{}, codeinterp.Approve(func(_ context.Context, r codeinterp.Call) error {
		got = append(got, r)
		return nil
	})))
	id, _ := s.CreateContext(t.Context(), "echo", nil)
	s.RunInContext(t.Context(), id, "x", nil)
	s.DeleteContext(t.Context(), id)
	if len(got) != 2 || got[0].Op != codeinterp.OpCreate || got[1].Op != codeinterp.OpRunIn ||
		got[1].Language != "echo" || got[1].Context != id || got[1].Code != "x" {
		t.Errorf("got %+v", got)
	}
}

// TestRefusedInput: whoever writes to the Input of a run that is refused, or that
// a middleware answers itself, does not wait for ever.
func TestRefusedInput(t *testing.T) {
	answers := func(codeinterp.Handler) codeinterp.Handler {
		return func(context.Context, codeinterp.Call) (codeinterp.Reply, error) { return codeinterp.Reply{}, nil }
	}
	refuses := codeinterp.Approve(func(context.Context, codeinterp.Call) error { return errors.New("no") })
	for name, mw := range map[string]codeinterp.Middleware{"answered": answers, "refused": refuses} {
		s, _ := codeinterp.Stateful(codeinterp.Wrap(&echoStateful{}, mw))
		for op, run := range map[string]func(o *codeinterp.RunOptions){
			"run":            func(o *codeinterp.RunOptions) { s.RunCode(t.Context(), "echo", "x", o) },
			"run in context": func(o *codeinterp.RunOptions) { s.RunInContext(t.Context(), "c", "x", o) },
		} {
			r, w := io.Pipe()
			run(&codeinterp.RunOptions{Input: r})
			if _, err := w.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s, %s: Input is open: %v", name, op, err)
			}
		}
	}
}
