package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools"
)

// A watched is a Set whose runs report their events to sink.
type watched struct {
	*tools.Set
	sink func(observe.Event) error
}

func (w watched) Dispatch(ctx context.Context, name string, args json.RawMessage, opts *tools.DispatchOptions) *tools.Answer {
	return w.Set.Dispatch(observe.With(ctx, w.sink), name, args, opts)
}

// A fake answers every run with what script returns.
type fake struct {
	mu     sync.Mutex
	runs   []string // code, in order
	opts   []codeinterp.RunOptions
	script func(ctx context.Context, code string) (codeinterp.Result, error)
	info   *codeinterp.Info
	next   int
	live   map[codeinterp.ContextID]string
}

var languages = []string{"javascript", "python"}

func (f *fake) Languages() []string { return append([]string(nil), languages...) }
func (f *fake) Close() error        { return nil }

func (f *fake) Describe() codeinterp.Info {
	if f.info != nil {
		return *f.info
	}
	return codeinterp.Info{
		Provider: "fake",
		Languages: []codeinterp.LanguageInfo{
			{Name: "javascript", Runtime: "FakeJS 1.0", Notes: "There is no require; fetch is missing.", Contexts: true},
			{Name: "python", Runtime: "FakePython 3.99", Notes: "numpy and pandas are installed; install more with pip.", Contexts: true},
		},
		Isolation:   codeinterp.Isolation{Backend: "engine", Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked},
		ContextIdle: 30 * time.Minute,
		Workdir:     "/work",
	}
}

func (f *fake) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	f.mu.Lock()
	f.runs = append(f.runs, code)
	f.opts = append(f.opts, *opts)
	script := f.script
	f.mu.Unlock()
	res, err := codeinterp.Result{Status: codeinterp.StatusOK}, error(nil)
	if script != nil {
		res, err = script(ctx, code)
	}
	if opts.OnOutput != nil {
		for _, o := range res.Outputs {
			if err := opts.OnOutput(o); err != nil {
				res.CallbackErr = err
			}
		}
	}
	return res, err
}

func (f *fake) ran() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.runs)
}

// A statefulFake has contexts as well.
type statefulFake struct{ *fake }

func (f statefulFake) CreateContext(_ context.Context, language string, _ *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live == nil {
		f.live = map[codeinterp.ContextID]string{}
	}
	f.next++
	id := codeinterp.ContextID(fmt.Sprintf("ctx-%d", f.next))
	f.live[id] = language
	return id, nil
}

func (f statefulFake) has(op string, id codeinterp.ContextID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.live[id]; !ok {
		return &codeinterp.Error{Provider: "fake", Op: op, Err: codeinterp.ErrContext}
	}
	return nil
}

func (f statefulFake) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if err := f.has("run", id); err != nil {
		return codeinterp.NotRun(), err
	}
	return f.RunCode(ctx, "", code, opts)
}

func (f statefulFake) DeleteContext(_ context.Context, id codeinterp.ContextID) error {
	if err := f.has("delete context", id); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, id)
	return nil
}

// A managedFake looks after its contexts as well.
type managedFake struct{ statefulFake }

func (f managedFake) ListContexts(context.Context) ([]codeinterp.ContextInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []codeinterp.ContextInfo{}
	for i := range f.next {
		id := codeinterp.ContextID(fmt.Sprintf("ctx-%d", i+1))
		if language, ok := f.live[id]; ok {
			list = append(list, codeinterp.ContextInfo{ID: id, Language: language, Created: time.Unix(1e9, 0)})
		}
	}
	return list, nil
}

func (f managedFake) RestartContext(_ context.Context, id codeinterp.ContextID) error {
	return f.has("restart context", id)
}

func (f managedFake) InterruptContext(_ context.Context, id codeinterp.ContextID) error {
	return f.has("interrupt context", id)
}

func newManaged() managedFake { return managedFake{statefulFake{&fake{}}} }

// fixed answers every run with the same outcome.
func fixed(res codeinterp.Result) func(context.Context, string) (codeinterp.Result, error) {
	return func(context.Context, string) (codeinterp.Result, error) { return res, nil }
}

func out(s string) codeinterp.Output {
	return codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(s)}
}

func errOut(s string) codeinterp.Output {
	return codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(s)}
}

func ok(outputs ...codeinterp.Output) codeinterp.Result {
	return codeinterp.Result{Status: codeinterp.StatusOK, Outputs: outputs}
}

// newSet makes the tools of ci under the workspace "w".
func newSet(t testing.TB, ci codeinterp.CodeInterpreter, opts *tools.Options) *tools.Set {
	t.Helper()
	list, err := tools.ForCode("w", ci, opts)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// run calls run_code with a program that the fake does not look at.
func run(t testing.TB, res codeinterp.Result, opts *tools.Options) *tools.Answer {
	t.Helper()
	set := newSet(t, &fake{script: fixed(res)}, opts)
	return set.Dispatch(t.Context(), "workspace__w__run_code", []byte(`{"language":"python","code":"x"}`), nil)
}
