package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/secret"
)

// pausing returns the tools of a mode whose function send waits for decisions.
func pausing(t *testing.T, opts *codemode.PauseOptions) (p *codemode.Pauses, ci codeinterp.CodeInterpreter, run, resume tools.Tool) {
	t.Helper()
	p = codemode.NewPauses(opts)
	t.Cleanup(p.Close)
	ci = codeinterp.Wrap(interpreter(t), p.Middleware(func(c codeinterp.FunctionCall) bool { return c.Name == "send" }))
	object := `{"type":"object"}`
	tool, err := codemode.New(ci, []tools.Tool{echo("send", "", object, ""), echo("read", "", object, "")},
		&codemode.Options{Language: "javascript", Limits: codeinterp.FunctionLimits{Untimed: true}})
	if err != nil {
		t.Fatal(err)
	}
	list := p.Wrap(tool)
	return p, ci, list[0], list[1]
}

type pause struct {
	Status, RunID string
	Pending       []struct{ Function string }
}

// begin runs code until it is paused.
func begin(t *testing.T, ctx context.Context, run tools.Tool, code string) pause {
	t.Helper()
	args, _ := json.Marshal(map[string]any{"language": "javascript", "code": code, "timeoutMs": 60_000})
	a := run.Invoke(ctx, tools.Invocation{Args: args})
	var got pause
	if err := json.Unmarshal(a.Data, &got); err != nil || got.Status != "paused" || got.RunID == "" {
		t.Fatalf("not paused: %s", a.Text)
	}
	return got
}

func rest(ctx context.Context, resume tools.Tool, id string) *tools.Answer {
	args, _ := json.Marshal(map[string]string{"runId": id})
	return resume.Invoke(ctx, tools.Invocation{Args: args})
}

// TestPause: a program waits in the middle, once, and goes on when it may.
func TestPause(t *testing.T) {
	p, _, run, resume := pausing(t, nil)
	r := begin(t, t.Context(), run, `console.log("before"); await tools.read(); const a = await tools.send({n: 1}); console.log("a", a.n);
		console.log(await tools.send({n: 2}).catch((e) => e.message)); "end"`)
	first := p.Pending()
	if len(r.Pending) != 1 || len(first) != 1 || first[0].Function != "send" || first[0].Run != r.RunID || string(first[0].Args) != `{"n":1}` {
		t.Fatalf("%+v", first)
	}
	told := make(chan *tools.Answer)
	go func() { told <- rest(t.Context(), resume, r.RunID) }()
	if !p.Decide(first[0].ID, nil) || p.Decide(first[0].ID, nil) || p.Decide("x", nil) {
		t.Error("a decision is made once, of a call that waits")
	}
	var again pause
	if a := <-told; json.Unmarshal(a.Data, &again) != nil || again.RunID != r.RunID || len(again.Pending) != 1 {
		t.Fatalf("the second call is not told of: %s", a.Text)
	}
	p.Decide(p.Pending()[0].ID, errors.New("not this one"))
	a := rest(t.Context(), resume, r.RunID)
	for _, want := range []string{"before\na 1\n", "not this one", "end"} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("no %q in %s", want, a.Text)
		}
	}
	if strings.Count(a.Text, "before") != 1 || len(a.Result.Calls) != 3 {
		t.Errorf("%d calls: %s", len(a.Result.Calls), a.Text)
	}
	if a := rest(t.Context(), resume, r.RunID); a.Failure == nil {
		t.Errorf("it is resumed twice: %s", a.Text)
	}
	if a := run.Invoke(t.Context(), tools.Invocation{Args: json.RawMessage(`{"language":"javascript","code":"await tools.read(); 6 * 7"}`)}); !strings.Contains(a.Text, "42") {
		t.Error(a.Text)
	}
}

// TestPauseAgain: resume_code does not wait for ever either, and several calls wait
// at once.
func TestPauseAgain(t *testing.T) {
	p, _, run, resume := pausing(t, &codemode.PauseOptions{Wait: 1})
	r := begin(t, t.Context(), run, `await Promise.all([1, 2, 3].map((n) => tools.send({n}))); "end"`)
	eventually(t, func() bool { return len(p.Pending()) == 3 })
	var again pause
	if err := json.Unmarshal(rest(t.Context(), resume, r.RunID).Data, &again); err != nil || again.RunID != r.RunID || len(again.Pending) != 3 {
		t.Errorf("%+v", again)
	}
	for _, c := range p.Pending() {
		p.Decide(c.ID, nil)
	}
	if a := rest(t.Context(), resume, r.RunID); !strings.Contains(a.Text, "end") {
		t.Error(a.Text)
	}
}

// TestPauseIsTheClients: nobody else gets the answer.
func TestPauseIsTheClients(t *testing.T) {
	p, _, run, resume := pausing(t, nil)
	mine, theirs := tools.WithClient(t.Context(), "me"), tools.WithClient(t.Context(), "them")
	r := begin(t, mine, run, `await tools.send(); "mine"`)
	p.Decide(p.Pending()[0].ID, nil)
	for _, ctx := range []context.Context{theirs, t.Context()} {
		if a := rest(ctx, resume, r.RunID); a.Failure == nil || strings.Contains(a.Text, "mine") {
			t.Errorf("%s", a.Text)
		}
	}
	if a := rest(mine, resume, r.RunID); !strings.Contains(a.Text, "mine") {
		t.Errorf("%s", a.Text)
	}
}

// TestPausesAreShared: a client that has many paused programs leaves room for
// others.
func TestPausesAreShared(t *testing.T) {
	p, _, run, _ := pausing(t, &codemode.PauseOptions{Runs: 4, RunsPerClient: 2})
	mine, theirs := tools.WithClient(t.Context(), "me"), tools.WithClient(t.Context(), "them")
	const code = `await tools.send()`
	refused := func(ctx context.Context) bool {
		args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
		a := run.Invoke(ctx, tools.Invocation{Args: args})
		return a.Failure != nil && a.Failure.Code == tools.CodeCapacity
	}
	begin(t, mine, run, code)
	begin(t, mine, run, code)
	if !refused(mine) {
		t.Error("a third program of a client")
	}
	begin(t, theirs, run, code)
	begin(t, t.Context(), run, code)
	if !refused(theirs) || !refused(t.Context()) {
		t.Error("a fifth program of all")
	}
	if len(p.Pending()) != 4 {
		t.Errorf("%d calls wait", len(p.Pending()))
	}
}

// TestPauseEnds: what ends a paused program is told by who resumes it, and nothing
// of it goes on.
func TestPauseEnds(t *testing.T) {
	const code = `await tools.send().catch(() => 0); await tools.read(); "end"`
	t.Run("closed interpreter", func(t *testing.T) {
		_, ci, run, resume := pausing(t, nil)
		r := begin(t, t.Context(), run, code)
		ci.Close()
		if a := rest(t.Context(), resume, r.RunID); strings.Contains(a.Text, "end") || a.Result != nil && a.Result.OK() {
			t.Error(a.Text)
		}
	})
	t.Run("closed pauses", func(t *testing.T) {
		p, _, run, resume := pausing(t, nil)
		r := begin(t, t.Context(), run, code)
		p.Close()
		if a := rest(t.Context(), resume, r.RunID); a.Result == nil || a.Result.Status != codeinterp.StatusCanceled {
			t.Errorf("%+v", a)
		}
		if a := run.Invoke(t.Context(), tools.Invocation{Args: json.RawMessage(`{}`)}); a.Failure == nil || a.Failure.Code != tools.CodeClosed {
			t.Errorf("%+v", a)
		}
	})
	t.Run("nobody resumes", func(t *testing.T) {
		p, _, run, resume := pausing(t, &codemode.PauseOptions{Keep: 1})
		r := begin(t, t.Context(), run, code)
		eventually(t, func() bool { return len(p.Pending()) == 0 })
		eventually(t, func() bool { a := rest(t.Context(), resume, r.RunID); return a.Failure != nil })
	})
	t.Run("the caller goes", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, _, run, _ := pausing(t, &codemode.PauseOptions{After: 1 << 40, OnPending: func(codemode.Pending) { cancel() }})
		args, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
		if a := run.Invoke(ctx, tools.Invocation{Args: args}); a.Result == nil || a.Result.Status != codeinterp.StatusCanceled {
			t.Errorf("%+v", a)
		}
	})
	t.Run("the client goes", func(t *testing.T) {
		p, _, run, _ := pausing(t, &codemode.PauseOptions{Runs: 1})
		life, end := context.WithCancel(t.Context())
		begin(t, tools.WithClient(t.Context(), &leaver{life}), run, code)
		end()
		eventually(t, func() bool { return len(p.Pending()) == 0 })
		eventually(t, func() bool {
			a := run.Invoke(t.Context(), tools.Invocation{Args: json.RawMessage(`{"language":"javascript","code":"6 * 7"}`)})
			return strings.Contains(a.Text, "42") // there is room again
		})
	})
	t.Run("too many", func(t *testing.T) {
		_, _, run, _ := pausing(t, &codemode.PauseOptions{Runs: 1})
		begin(t, t.Context(), run, code)
		if a := run.Invoke(t.Context(), tools.Invocation{Args: json.RawMessage(`{}`)}); a.Failure == nil || a.Failure.Code != tools.CodeCapacity {
			t.Error(fmt.Sprint(a))
		}
	})
}

// A leaver is a client that goes.
type leaver struct{ life context.Context }

func (l *leaver) Life() context.Context { return l.life }

// TestResumeAnswers: the rest of a run is the answer to the call that resumed it, and
// its time does not run out while that waits.
func TestResumeAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := codemode.NewPauses(&codemode.PauseOptions{Keep: time.Minute, Wait: 45 * time.Second})
		defer p.Close()
		asks := p.Middleware(func(codeinterp.FunctionCall) bool { return true })(func(context.Context, codeinterp.Call) (codeinterp.Reply, error) {
			return codeinterp.Reply{}, nil
		})
		list := p.Wrap(tools.Tool{Name: "run_code", Invoke: func(ctx context.Context, c tools.Invocation) *tools.Answer {
			_, err := asks(ctx, codeinterp.Call{Op: codeinterp.OpCallFunction, Args: codeinterp.FunctionCall{Name: "send"}})
			return &tools.Answer{CallID: c.ID, Tool: c.Tool, Text: fmt.Sprint("ended: ", err)}
		}})
		var r pause
		paused := list[0].Invoke(t.Context(), tools.Invocation{ID: "1", Tool: "run_code"})
		if err := json.Unmarshal(paused.Data, &r); err != nil || r.RunID == "" {
			t.Fatalf("not paused: %s", paused.Text)
		}
		if a := list[1].Invoke(t.Context(), tools.Invocation{ID: "0", Tool: "resume_code", Args: json.RawMessage(`{}`)}); !strings.Contains(a.Text, "runId: required") {
			t.Errorf("without a runId: %s", a.Text)
		}
		time.Sleep(50 * time.Second)
		args, _ := json.Marshal(map[string]string{"runId": r.RunID})
		done := make(chan *tools.Answer, 1)
		go func() {
			done <- list[1].Invoke(t.Context(), tools.Invocation{ID: "2", Tool: "resume_code", Args: args})
		}()
		time.Sleep(20 * time.Second)
		for _, c := range p.Pending() {
			p.Decide(c.ID, nil)
		}
		if a := <-done; a.CallID != "2" || a.Tool != "resume_code" || a.Text != "ended: <nil>" {
			t.Errorf("call %q of %q: %s", a.CallID, a.Tool, a.Text)
		}
	})
}

// TestPausedAnew: resume_code tells of a call that no answer has told of as soon as
// run_code would, and waits for a decision of the others.
func TestPausedAnew(t *testing.T) {
	for _, after := range []time.Duration{0, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			p, run, resume := asking(t, &codemode.PauseOptions{After: after, Wait: time.Minute}, func(ask func(string)) {
				for _, name := range []string{"first", "second"} {
					time.Sleep(10 * time.Second)
					ask(name)
				}
			})
			var r pause
			json.Unmarshal(run.Invoke(t.Context(), tools.Invocation{}).Data, &r)
			for _, step := range []struct {
				decided bool
				takes   time.Duration
				pending string
			}{{false, time.Minute, "first"}, {true, 10*time.Second + after, "second"}, {false, time.Minute, "second"}} {
				if step.decided {
					p.Decide(p.Pending()[0].ID, nil)
				}
				began := time.Now()
				var got pause
				json.Unmarshal(rest(t.Context(), resume, r.RunID).Data, &got)
				if took := time.Since(began); took != step.takes || len(got.Pending) != 1 || got.Pending[0].Function != step.pending {
					t.Errorf("after %v: %+v after %v, want %s after %v", after, got, took, step.pending, step.takes)
				}
			}
		})
	}
}

// TestPausedMany: where more calls wait than an answer tells of, the next tells of
// the others.
func TestPausedMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 50
		_, run, resume := asking(t, &codemode.PauseOptions{After: time.Second, Wait: time.Minute}, func(ask func(string)) {
			var work sync.WaitGroup
			for n := range calls {
				work.Go(func() { ask(fmt.Sprint(n)) })
			}
			work.Wait()
		})
		r, _, _ := answered(func() *tools.Answer { return run.Invoke(t.Context(), tools.Invocation{}) })
		told := map[string]bool{}
		for i, want := range []struct {
			told  int
			takes time.Duration
		}{{20, 0}, {40, time.Second}, {calls, time.Second}, {calls, time.Minute}} {
			got, took := r, want.takes
			if i > 0 {
				got, _, took = answered(func() *tools.Answer { return rest(t.Context(), resume, r.RunID) })
			}
			for _, call := range got.Pending {
				told[call.Function] = true
			}
			if len(got.Pending) != 20 || len(told) != want.told || took != want.takes {
				t.Errorf("answer %d tells of %d calls, and %d were told of after %v; want %+v", i, len(got.Pending), len(told), took, want)
			}
		}
	})
}

// TestPausedSecrets: what a paused answer tells of a call has no secrets, and
// nothing that a person would not see.
func TestPausedSecrets(t *testing.T) {
	hidden, err := secret.New("hunter2-hunter2", "1234567890123")
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []bool{true, false} {
		opts, o := &codemode.PauseOptions{}, &codemode.Options{Language: "javascript", Limits: codeinterp.FunctionLimits{Untimed: true}}
		if own {
			o.Tools.Secrets = hidden
		} else {
			opts.Secrets = hidden
		}
		p := codemode.NewPauses(opts)
		t.Cleanup(p.Close)
		ci := codeinterp.Wrap(interpreter(t), p.Middleware(func(codeinterp.FunctionCall) bool { return true }))
		tool, err := codemode.New(ci, []tools.Tool{echo("send", "", `{"type":"object"}`, "")}, o)
		if err != nil {
			t.Fatal(err)
		}
		list := p.Wrap(tool)
		args, _ := json.Marshal(map[string]any{"language": "javascript", "timeoutMs": 60_000,
			"code": `await tools.send({ to: ["hunter2-" + "hunter2", "hunter2\u202e-hunter2"], ["hunter2-" + "hunter2"]: 1234567890123, bidi: "a\u202eb" })`})
		a := list[0].Invoke(t.Context(), tools.Invocation{Args: args})
		var got pause
		if err := json.Unmarshal(a.Data, &got); err != nil || got.Status != "paused" {
			t.Fatalf("not paused: %s", a.Text)
		}
		for _, text := range []string{a.Text, string(a.Data)} {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "1234567890123") || strings.ContainsRune(text, 0x202e) || strings.Contains(text, `u202e`) {
				t.Errorf("own %t: %s", own, text)
			}
		}
		if want := `"args":{"[secret]":"[secret]","bidi":"ab","to":["[secret]","[secret]"]}`; !strings.Contains(a.Text, want) {
			t.Errorf("own %t: %s", own, a.Text)
		}
	}
}
