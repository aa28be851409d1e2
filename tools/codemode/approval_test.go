package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
	"github.com/toolcell/toolcell/tools/secret"
)

// pausing returns a mode whose function send needs approval, its interpreter and its tools.
func pausing(t *testing.T, opts *codemode.Approval) (m *codemode.Mode, ci codeinterp.CodeInterpreter, run, resume tools.Tool) {
	t.Helper()
	opts.Needs = func(c codeinterp.FunctionCall) bool { return c.Name == "send" }
	ci = interpreter(t)
	object := `{"type":"object"}`
	m = open(t, ci, codemode.Entries([]tools.Tool{echo("send", "", object, ""), echo("read", "", object, "")}),
		&codemode.Options{Language: "javascript", Approve: opts})
	t.Cleanup(m.Close)
	list := m.Tools()
	return m, ci, list[0], list[1]
}

// A program is an interpreter whose programs are a function in Go.
type program func(call func(name string) error)

func (program) Languages() []string { return []string{"javascript"} }
func (program) Close() error        { return nil }
func (program) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "program", Languages: []codeinterp.LanguageInfo{{Name: "javascript", Functions: true}}}
}

func (p program) RunCode(ctx context.Context, _, _ string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	p(func(name string) error {
		i := slices.IndexFunc(opts.Functions, func(f codeinterp.Function) bool { return f.Name == name })
		defer func() { recover() }() // as every provider does
		_, err := opts.Functions[i].Call(ctx, codeinterp.FunctionCall{Name: name, Args: json.RawMessage("{}")})
		return err
	})
	return codeinterp.Result{Status: codeinterp.StatusOK}, nil
}

// asking returns a mode whose program calls functions that all need approval.
func asking(t *testing.T, opts *codemode.Approval, run func(ask func(name string))) (m *codemode.Mode, code, resume tools.Tool) {
	t.Helper()
	var list []tools.Tool
	for _, name := range []string{"first", "second", "never"} {
		list = append(list, echo(name, "", `{"type":"object"}`, ""))
	}
	m = open(t, program(func(call func(string) error) { run(func(name string) { call(name) }) }), codemode.Entries(list), &codemode.Options{Approve: opts})
	t.Cleanup(m.Close)
	all := m.Tools()
	return m, all[0], all[1]
}

// answered returns what an answer says, and how long it took.
func answered(invoke func() *tools.Answer) (r pause, text string, took time.Duration) {
	began := time.Now()
	a := invoke()
	json.Unmarshal(a.Data, &r)
	return r, a.Text, time.Since(began)
}

// start starts the program of asking.
func start(t *testing.T, code tools.Tool) *tools.Answer {
	return code.Invoke(t.Context(), tools.Invocation{ID: "1", Tool: "run_code", Args: json.RawMessage(`{"language":"javascript","code":"x"}`)})
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

// A program waits in the middle, and continues once when it is allowed to.
func TestPause(t *testing.T) {
	p, _, run, resume := pausing(t, &codemode.Approval{})
	r := begin(t, t.Context(), run, `console.log("before"); await tools.read(); const a = await tools.send({n: 1}); console.log("a", a.n);
		console.log(await tools.send({n: 2}).catch((e) => e.message)); "end"`)
	first := p.Pending()
	if len(r.Pending) != 1 || len(first) != 1 || first[0].Function != "send" || first[0].Run != r.RunID || string(first[0].Args) != `{"n":1}` {
		t.Fatalf("%+v", first)
	}
	answer := make(chan *tools.Answer)
	go func() { answer <- rest(t.Context(), resume, r.RunID) }()
	if !p.Decide(first[0].ID, nil) || p.Decide(first[0].ID, nil) || p.Decide("x", nil) {
		t.Error("a decision is made once, of a call that waits")
	}
	var again pause
	if a := <-answer; json.Unmarshal(a.Data, &again) != nil || again.RunID != r.RunID || len(again.Pending) != 1 {
		t.Fatalf("the second call is not reported: %s", a.Text)
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

// Only the client that started a run gets its answer.
func TestPauseIsTheClients(t *testing.T) {
	p, _, run, resume := pausing(t, &codemode.Approval{})
	mine, theirs := callers.With(t.Context(), "me"), callers.With(t.Context(), "them")
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

// A paused program that is ended does not continue, and resume_code says so.
func TestPauseEnds(t *testing.T) {
	const code = `await tools.send().catch(() => 0); await tools.read(); "end"`
	t.Run("closed interpreter", func(t *testing.T) {
		_, ci, run, resume := pausing(t, &codemode.Approval{})
		r := begin(t, t.Context(), run, code)
		ci.Close()
		if a := rest(t.Context(), resume, r.RunID); strings.Contains(a.Text, "end") || a.Result != nil && a.Result.OK() {
			t.Error(a.Text)
		}
	})
	t.Run("closed mode", func(t *testing.T) {
		p, _, run, resume := pausing(t, &codemode.Approval{})
		r := begin(t, t.Context(), run, code)
		p.Close()
		if a := rest(t.Context(), resume, r.RunID); a.Result == nil || a.Result.Status != codeinterp.StatusCanceled {
			t.Errorf("%+v", a)
		}
		if a := run.Invoke(t.Context(), tools.Invocation{Args: json.RawMessage(`{}`)}); a.Failure == nil || a.Failure.Code != tools.CodeClosed {
			t.Errorf("%+v", a)
		}
	})
	t.Run("not resumed in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, run, resume := asking(t, &codemode.Approval{}, func(ask func(string)) { ask("first") })
			r, _, _ := answered(func() *tools.Answer { return start(t, run) })
			time.Sleep(time.Hour + time.Second)
			if a := rest(t.Context(), resume, r.RunID); len(p.Pending()) > 0 || a.Failure == nil {
				t.Error(a.Text)
			}
		})
	})
	t.Run("the client goes", func(t *testing.T) {
		p, _, run, _ := pausing(t, &codemode.Approval{})
		life, end := context.WithCancel(t.Context())
		begin(t, callers.With(t.Context(), &leaver{life}), run, code)
		end()
		eventually(t, func() bool { return len(p.Pending()) == 0 })
	})
}

// A leaver is a client that goes.
type leaver struct{ life context.Context }

func (l *leaver) Life() context.Context { return l.life }

// The rest of a run is the answer to the call that resumed it, and the run does not expire
// while that waits.
func TestResumeAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, run, resume := asking(t, &codemode.Approval{}, func(ask func(string)) { ask("first") })
		r, text, _ := answered(func() *tools.Answer { return start(t, run) })
		if r.RunID == "" {
			t.Fatalf("not paused: %s", text)
		}
		if a := resume.Invoke(t.Context(), tools.Invocation{ID: "0", Tool: "resume_code", Args: json.RawMessage(`{}`)}); !strings.Contains(a.Text, "runId: required") {
			t.Errorf("without a runId: %s", a.Text)
		}
		time.Sleep(time.Hour - 10*time.Second)
		args, _ := json.Marshal(map[string]string{"runId": r.RunID})
		done := make(chan *tools.Answer, 1)
		go func() {
			done <- resume.Invoke(t.Context(), tools.Invocation{ID: "2", Tool: "resume_code", Args: args})
		}()
		time.Sleep(20 * time.Second)
		for _, c := range p.Pending() {
			p.Decide(c.ID, nil)
		}
		if a := <-done; a.CallID != "2" || a.Tool != "resume_code" || !strings.HasPrefix(a.Text, "ok") {
			t.Errorf("call %q of %q: %s", a.CallID, a.Tool, a.Text)
		}
	})
}

// resume_code reports a new call at once, and waits for decisions on the others.
func TestPausedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, run, resume := asking(t, &codemode.Approval{}, func(ask func(string)) {
			for _, name := range []string{"first", "second"} {
				time.Sleep(10 * time.Second)
				ask(name)
			}
		})
		r, _, _ := answered(func() *tools.Answer { return start(t, run) })
		for _, step := range []struct {
			decided bool
			takes   time.Duration
			pending string
		}{{false, 45 * time.Second, "first"}, {true, 10 * time.Second, "second"}, {false, 45 * time.Second, "second"}} {
			if step.decided {
				p.Decide(p.Pending()[0].ID, nil)
			}
			got, _, took := answered(func() *tools.Answer { return rest(t.Context(), resume, r.RunID) })
			if took != step.takes || len(got.Pending) != 1 || got.Pending[0].Function != step.pending {
				t.Errorf("%+v after %v, want %s after %v", got, took, step.pending, step.takes)
			}
		}
	})
}

// Paused answers contain neither secrets nor invisible characters.
func TestPausedSecrets(t *testing.T) {
	hidden, err := secret.New("hunter2-hunter2")
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, interpreter(t), codemode.Entries([]tools.Tool{echo("send", "", `{"type":"object"}`, "")}),
		&codemode.Options{Language: "javascript", Approve: &codemode.Approval{}, Tools: tools.Options{Secrets: hidden}})
	t.Cleanup(m.Close)
	args, _ := json.Marshal(map[string]any{"language": "javascript", "timeoutMs": 60_000,
		"code": `await tools.send({ to: ["hunter2-" + "hunter2", "hunter2\u202e-hunter2"], ["hunter2-" + "hunter2"]: 1, bidi: "a\u202eb" })`})
	a := m.Tools()[0].Invoke(t.Context(), tools.Invocation{Args: args})
	var got pause
	if err := json.Unmarshal(a.Data, &got); err != nil || got.Status != "paused" {
		t.Fatalf("not paused: %s", a.Text)
	}
	for _, text := range []string{a.Text, string(a.Data)} {
		if strings.Contains(text, "hunter2") || strings.ContainsRune(text, 0x202e) || strings.Contains(text, `u202e`) {
			t.Errorf("%s", text)
		}
	}
	if want := `"args":{"[secret]":1,"bidi":"ab","to":["[secret]","[secret]"]}`; !strings.Contains(a.Text, want) {
		t.Errorf("%s", a.Text)
	}
}

// A call counts as reported only if the answer reached its caller.
func TestPausedUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, run, resume := asking(t, &codemode.Approval{}, func(ask func(string)) { ask("first") })
		gone, cancel := context.WithCancel(t.Context())
		r, _, _ := answered(func() *tools.Answer { return start(t, run) })
		cancel()
		rest(gone, resume, r.RunID)
		if got, text, took := answered(func() *tools.Answer { return rest(t.Context(), resume, r.RunID) }); took != 45*time.Second || len(got.Pending) != 1 {
			t.Errorf("%s after %v", text, took)
		}
	})
}

// A call whose OnPending panics is refused and is no longer pending.
func TestOnPendingThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &codemode.Approval{OnPending: func(codemode.Pending) { panic("oops") }}
		p, run, _ := asking(t, opts, func(ask func(string)) { ask("never") })
		answered(func() *tools.Answer { return start(t, run) })
		if list := p.Pending(); len(list) != 0 {
			t.Errorf("waiting still: %+v", list)
		}
	})
}
