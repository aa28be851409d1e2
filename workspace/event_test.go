package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/goldentest"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
	"github.com/toolcell/toolcell/workspace"
)

// fixed makes the clock and the ids repeatable.
func fixed() *workspace.Options {
	var mu sync.Mutex
	ids, ticks := 0, 0
	return &workspace.Options{
		Now: func() time.Time {
			ticks++
			return time.Date(2030, 1, 2, 3, 4, 5, ticks*1e6, time.UTC)
		},
		Tools: tools.Options{NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			ids++
			return fmt.Sprintf("id-%d", ids)
		}},
	}
}

// TestEventForms compares the JSON of every type of event with a golden file.
func TestEventForms(t *testing.T) {
	f := newFake("python")
	ws := open(t, workspace.Capabilities{
		Code:   statefulFake{f},
		Beside: map[string]codeinterp.CodeInterpreter{"script": newFake("javascript")},
	}, fixed())
	var got bytes.Buffer
	ws.Subscribe(func(e workspace.Event) {
		raw, err := e.MarshalJSON()
		if err != nil {
			t.Error(err)
		}
		got.Write(append(raw, '\n'))
	}, nil)
	ws.Dispatch(t.Context(), "workspace__demo__run_code", []byte(`{"language":"python","code":"<hi>\n"}`), &tools.DispatchOptions{ID: "call_1"})
	ws.Dispatch(t.Context(), "workspace__demo__script_run_code", []byte(`{"language":"javascript","code":"ab"}`), nil)
	f.script = func(_ context.Context, _ string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
		opts.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("late\n"), Late: true})
		opts.OnOutput(codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte("\xff")})
		opts.OnOutput(codeinterp.Output{Kind: codeinterp.Clear, Wait: true})
		return codeinterp.Result{
			Status: codeinterp.StatusError, ExitCode: 1, ExecutionCount: 2, StateLost: true,
			Error: &codeinterp.ProgramError{Name: "E", Message: "m"},
		}, nil
	}
	ws.Dispatch(t.Context(), "workspace__demo__run_in_code_context", []byte(`{"contextId":"c","code":"x"}`), nil)
	f.script = func(context.Context, string, *codeinterp.RunOptions) (codeinterp.Result, error) {
		return codeinterp.NotRun(), codeinterp.ErrCapacity
	}
	_, err := ws.Code().RunCode(t.Context(), "python", "x", nil)
	if !errors.Is(err, codeinterp.ErrCapacity) {
		t.Error(err)
	}
	goldentest.Check(t, "events.jsonl", got.Bytes())
}

// TestDirectRuns: runs of the program's own are events like those of tools,
// and contexts survive the wrapping.
func TestDirectRuns(t *testing.T) {
	secrets, err := secret.New("hunter22")
	if err != nil {
		t.Fatal(err)
	}
	opts := fixed()
	opts.Tools.Secrets = secrets
	ws := open(t, workspace.Capabilities{
		Code:   statefulFake{newFake("python")},
		Beside: map[string]codeinterp.CodeInterpreter{"script": newFake("javascript")},
	}, opts)
	var seen []string
	stop := ws.Subscribe(func(e workspace.Event) {
		if e.Tool != "" {
			t.Errorf("tool %q", e.Tool)
		}
		seen = append(seen, fmt.Sprintf("%s %s%s%s %s", strings.TrimPrefix(e.Type, "workspace_code_"), e.Interpreter, e.ContextID, e.Language, e.Output.Data))
	}, nil)
	s, ok := codeinterp.Stateful(ws.Code())
	if !ok {
		t.Fatal("the contexts are gone")
	}
	id, err := s.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	res, err := s.RunInContext(t.Context(), id, "my hunter22", &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { own++; return nil }})
	if err != nil || res.Stdout() != "my [secret]" || own == 0 {
		t.Errorf("got %q, %v, %d outputs", res.Stdout(), err, own)
	}
	if _, err := ws.Beside("script").RunCode(t.Context(), "javascript", "ab", nil); err != nil {
		t.Error(err)
	}
	stop()
	ws.Code().RunCode(t.Context(), "python", "unseen", nil)
	want := []string{"start c ", "output c my ", "output c [secret]", "end c ", "start scriptjavascript ", "output script ab", "end script "}
	if !slices.Equal(seen, want) {
		t.Errorf("got\n%q, want\n%q", seen, want)
	}
	if ws.Beside("other") != nil || ws.Beside("") != nil {
		t.Error("an interpreter that is not there")
	}
}

// TestOrder: parallel runs, subscribers of both kinds; every one sees every
// event once, in order.
func TestOrder(t *testing.T) {
	ws := open(t, workspace.Capabilities{Code: newFake("python")}, nil)
	const runs = 50
	record := func(list *[]uint64) func(workspace.Event) {
		return func(e workspace.Event) { *list = append(*list, e.Seq) }
	}
	var direct, queued []uint64
	ws.Subscribe(record(&direct), nil)
	ws.Subscribe(record(&queued), &workspace.SubscribeOptions{Buffer: 8 * runs})
	var wg sync.WaitGroup
	for range runs {
		wg.Go(func() {
			ws.Dispatch(context.Background(), "workspace__demo__run_code", []byte(`{"language":"python","code":"ab"}`), nil)
		})
	}
	wg.Wait()
	if len(direct) != 4*runs {
		t.Errorf("%d events were seen when the runs had returned", len(direct))
	}
	ws.Close()
	for name, list := range map[string][]uint64{"direct": direct, "queued": queued} {
		if len(list) != 4*runs {
			t.Errorf("%s: %d events", name, len(list))
		}
		for i, seq := range list {
			if seq != uint64(i+1) {
				t.Fatalf("%s: event %d has number %d", name, i+1, seq)
			}
		}
	}
}

// TestMissed: a subscriber with a buffer that does not read misses events, and
// learns how many.
func TestMissed(t *testing.T) {
	ws := open(t, workspace.Capabilities{Code: newFake("python")}, nil)
	entered, leave := make(chan bool), make(chan bool)
	var seen, missed uint64
	ws.Subscribe(func(e workspace.Event) {
		if e.Seq == 1 {
			entered <- true
			<-leave
		}
		if e.Type != workspace.TypeMissed && e.Seq != seen+missed+e.Missed+1 {
			t.Errorf("event %d came with %d missed, after %d seen and %d missed", e.Seq, e.Missed, seen, missed)
		}
		seen++
		missed += e.Missed
	}, &workspace.SubscribeOptions{Buffer: 2})
	dispatch := func() {
		ws.Dispatch(t.Context(), "workspace__demo__run_code", []byte(`{"language":"python","code":"ab"}`), nil)
	}
	go dispatch()
	<-entered
	for range 5 {
		dispatch()
	}
	close(leave)
	ws.Close()
	if seen+missed < 24 || missed < 15 {
		t.Errorf("seen %d, missed %d", seen, missed)
	}
}

// TestCallbackErrors: a panic of a subscriber disturbs neither the run nor the
// other subscribers, and learns of it.
func TestCallbackErrors(t *testing.T) {
	ws := open(t, workspace.Capabilities{Code: newFake("python")}, nil)
	count := 0
	ws.Subscribe(func(workspace.Event) { panic("boom") }, nil)
	ws.Subscribe(func(workspace.Event) { count++ }, nil)
	r := ws.Dispatch(t.Context(), "workspace__demo__run_code", []byte(`{"language":"python","code":"ab"}`), nil)
	if r.Result.Status != codeinterp.StatusOK || count != 4 {
		t.Errorf("status %s, %d events", r.Result.Status, count)
	}
	if err := r.Result.CallbackErr; err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
}
