//go:build linux && real

package toolcell_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/internal/packtest"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
	"github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// places are the providers that the tests compare, each opened once.
type places struct {
	t      *testing.T
	opened map[string]codeinterp.StatefulInterpreter
	server string // of Jupyter, once it was started
}

// jupyter returns the address of a Jupyter server.
func (p *places) jupyter() string {
	if p.server == "" {
		p.server = jupytertest.Start(p.t, &jupytertest.Options{Forked: true}).Address()
	}
	return p.server
}

// has reports whether a place can be had: Python in memory needs a pack.
func (p *places) has(name string) bool { return name != pythonInMemory || packtest.Find(p.t) != "" }

const pythonInMemory = "python in memory"

// of returns an interpreter: "memory", "python in memory", "kernel", or the language of a
// process.
func (p *places) of(name string) codeinterp.StatefulInterpreter {
	if p.opened[name] == nil {
		switch name {
		case "memory":
			p.opened[name] = embedded(p.t)
		case pythonInMemory:
			p.opened[name] = embeddedPython(p.t)
		case "kernel":
			ci, err := jupyter.NewStateful(p.t.Context(), &jupyter.Options{URL: p.jupyter()})
			p.opened[name] = opened(p.t, ci, err)
		default:
			languages := map[string]subprocess.Language{"javascript": subprocess.JavaScript(), "typescript": subprocess.TypeScript(), "python": subprocess.Python(), "bash": subprocess.Bash()}
			ci, err := subprocess.NewStateful(&subprocess.Options{Languages: []subprocess.Language{languages[name]}, Grace: 10 * time.Second})
			if err != nil && os.Getenv("CI") == "" {
				p.t.Skip(err)
			}
			p.opened[name] = opened(p.t, ci, err)
		}
	}
	return p.opened[name]
}

// agreements are the pairs of providers that have a language in common: a process of the
// language, and another place.
var agreements = []struct {
	language, place string
	calls           []agreedCall
	lacks           *regexp.Regexp // what the place does not report, or reports besides
	full            bool           // with tag full only
	alone           bool           // the place has no processes and no threads
}{
	{language: "javascript", place: "memory", calls: agreedJavaScript, lacks: exits},
	{language: "typescript", place: "memory", calls: agreedTypeScript, lacks: exits, full: true},
	{language: "python", place: "kernel", calls: agreedPython},
	{language: "python", place: pythonInMemory, calls: slices.Concat(agreedPython, agreedPythons), alone: true},
	{language: "bash", place: "kernel", calls: agreedBash, full: true},
}

// exits is what an exit of a program does to its context: a process ends and loses its
// state, the embedded engine keeps it.
var exits = regexp.MustCompile(`state lost (true|false), run \d+, `)

// reports are what runtimes write to standard error in their own words.
var reports = regexp.MustCompile(`; stderr late \w+ dropped \d+ "(?:[^"\\]|\\.)*"[^;]*`)

// words are the text of an error.
var words = regexp.MustCompile(`(; error "\w+" in line \d+, module "[^"]*"): "(?:[^"\\]|\\.)*"`)

// TestProvidersAgree makes the same calls of two providers, in one language,
// and compares the answers field by field. Durations, tracebacks and what a
// context is called are left out, and so are the words of errors that two
// engines raise by themselves.
func TestProvidersAgree(t *testing.T) {
	t.Parallel()
	p := &places{t: t, opened: map[string]codeinterp.StatefulInterpreter{}}
	t.Run("processes and threads", func(t *testing.T) { failAlone(t, p) })
	t.Run("failures", func(t *testing.T) { failuresAgree(t, p) })
	t.Run("kept functions", func(t *testing.T) { keptFunctionsAgree(t, p) })
	t.Run("modules", func(t *testing.T) { modulesAgree(t, p) })
	for _, pair := range agreements {
		if pair.full && !tier.Full || !p.has(pair.place) {
			continue
		}
		a, b := p.of(pair.language), p.of(pair.place)
		t.Run(pair.language+" and "+pair.place, func(t *testing.T) {
			t.Parallel()
			both := [2]agreed{{a, pair.language, newContext(t, a, pair.language)}, {b, pair.language, newContext(t, b, pair.language)}}
			for _, tt := range pair.calls {
				if tt.full && !tier.Full || tt.processes && pair.alone {
					continue
				}
				t.Run(tt.name, func(t *testing.T) {
					was, is := tt.answers(t, both[0]), tt.answers(t, both[1])
					for i := range was {
						if pair.lacks != nil {
							was[i], is[i] = pair.lacks.ReplaceAllString(was[i], ""), pair.lacks.ReplaceAllString(is[i], "")
						}
						if tt.ownReports {
							was[i], is[i] = reports.ReplaceAllString(was[i], ""), reports.ReplaceAllString(is[i], "")
						}
						if tt.ownErrors {
							was[i], is[i] = words.ReplaceAllString(was[i], "$1"), words.ReplaceAllString(is[i], "$1")
						}
						if was[i] != is[i] {
							t.Errorf("%T: %s\n%T: %s", a, was[i], b, is[i])
						}
					}
				})
			}
		})
	}
}

func newContext(t *testing.T, ci codeinterp.StatefulInterpreter, language string) codeinterp.ContextID {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), language, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func embedded(t *testing.T) codeinterp.StatefulInterpreter {
	js := quickjs.New(nil)
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
	return opened(t, ci, err)
}

func embeddedPython(t *testing.T) codeinterp.StatefulInterpreter {
	dir := packtest.Dir(t)
	py, err := python.New(t.Context(), &python.Options{Pack: os.DirFS(dir), Cache: packtest.Cache(dir)})
	if err != nil {
		t.Fatal(err)
	}
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{py}})
	return opened(t, ci, err)
}

func opened[T codeinterp.StatefulInterpreter](t *testing.T, ci T, err error) codeinterp.StatefulInterpreter {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ci.Close(); err != nil {
			t.Error(err)
		}
	})
	return ci
}

// An agreedCall is a series of programs in one context.
type agreedCall struct {
	name        string
	programs    []string
	opts        codeinterp.RunOptions
	full        bool // with tag full only
	once        bool // each by RunCode too
	fresh       bool // in a context of its own, which is deleted
	processes   bool // it starts some: what is without them fails, see failAlone
	canceled    bool // at the first output
	interrupted bool // at the first output
	restarted   bool // so too
	deleted     bool // so too
	ownErrors   bool // the words of errors are the version's
	ownReports  bool // what is on standard error is in the runtime's own words
}

// An agreed is one of two interpreters, and the context that calls share.
type agreed struct {
	ci       codeinterp.StatefulInterpreter
	language string
	shared   codeinterp.ContextID
}

var errAgreed = errors.New("the caller changed its mind")

// answers makes the calls and describes the answers.
func (a agreedCall) answers(t *testing.T, of agreed) []string {
	t.Helper()
	ctx, ci, id := t.Context(), of.ci, of.shared
	if a.fresh {
		id = newContext(t, ci, of.language)
	}
	var got []string
	for _, code := range a.programs {
		if a.once {
			res, err := a.run(ctx, ci, "", func(ctx context.Context, o *codeinterp.RunOptions) (codeinterp.Result, error) {
				return ci.RunCode(ctx, of.language, code, o)
			})
			got = append(got, fmt.Sprintf("RunCode %q: %s", code, answer(res, err, of.language)))
		}
		res, err := a.run(ctx, ci, id, func(ctx context.Context, o *codeinterp.RunOptions) (codeinterp.Result, error) {
			return ci.RunInContext(ctx, id, code, o)
		})
		got = append(got, fmt.Sprintf("RunInContext %q: %s", code, answer(res, err, of.language)))
	}
	if !a.fresh {
		return got
	}
	err := ci.DeleteContext(ctx, id)
	_, again := ci.RunInContext(ctx, id, "1", nil)
	return append(got, fmt.Sprintf("delete: %s, then %s", kind(err), kind(again)))
}

// run makes one call, and does at its first output what the calls are about.
func (a agreedCall) run(ctx context.Context, ci codeinterp.CodeInterpreter, id codeinterp.ContextID,
	call func(context.Context, *codeinterp.RunOptions) (codeinterp.Result, error)) (codeinterp.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opts := a.opts
	manager, _ := codeinterp.Manager(ci)
	first := true
	opts.OnOutput = func(codeinterp.Output) (err error) {
		switch {
		case !first:
		case a.canceled:
			cancel(errAgreed)
		case a.interrupted:
			err = manager.InterruptContext(ctx, id)
		case a.restarted:
			err = manager.RestartContext(ctx, id)
		case a.deleted:
			err = ci.(codeinterp.StatefulInterpreter).DeleteContext(ctx, id)
		}
		first = false
		return err
	}
	return call(ctx, &opts)
}

// agreedFunctions are what programs can call where a row has functions.
func agreedFunctions() []codeinterp.Function {
	function := func(name string, f func(codeinterp.FunctionCall) (json.RawMessage, error)) codeinterp.Function {
		return codeinterp.Function{Name: name, Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) { return f(c) }}
	}
	return []codeinterp.Function{
		function("echo", func(c codeinterp.FunctionCall) (json.RawMessage, error) { return c.Args, nil }),
		function("fails", func(codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.FunctionError{Message: "no\nsuch city"}
		}),
		function("secret", func(codeinterp.FunctionCall) (json.RawMessage, error) { return nil, errors.New("of the host") }),
		function("panics", func(codeinterp.FunctionCall) (json.RawMessage, error) { panic("of the host") }),
		{Name: "waits", Call: func(ctx context.Context, _ codeinterp.FunctionCall) (json.RawMessage, error) {
			<-ctx.Done()
			return json.RawMessage(`"too late"`), nil
		}},
	}
}

// tracebacks are those that python prints, without the errors' own lines.
var tracebacks = regexp.MustCompile(`(?m)^Traceback .*\n(?:[ ].*\n)*`)

// answer describes what callers may rely on.
func answer(res codeinterp.Result, err error, language string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, exit %d, cause %q, state lost %v, run %d, %s", res.Status, res.ExitCode, res.Cause, res.StateLost, res.ExecutionCount, kind(err))
	// Two pipes do not tell which of them was written to first.
	outputs := slices.Clone(res.Outputs)
	slices.SortStableFunc(outputs, func(x, y codeinterp.Output) int { return cmp.Compare(x.Kind, y.Kind) })
	for _, o := range joined(outputs) {
		fmt.Fprintf(&b, "; %s late %v dropped %d %q %s %q %s %q %v", o.Kind, o.Late, o.Dropped, tracebacks.ReplaceAll(o.Data, nil), o.Value, o.Bundle, o.Metadata, o.DisplayID, o.Update)
	}
	stopped := res.Status == codeinterp.StatusTimeout || res.Status == codeinterp.StatusCanceled || res.Cause == codeinterp.CauseInterrupt
	// Where a program was when it was stopped is a matter of chance, and with it what its
	// runtime says of that.
	if e := res.Error; e != nil && !stopped {
		fmt.Fprintf(&b, "; error %q in line %d, module %q", e.Name, e.Line, e.MissingModule)
		if language == "python" || e.Name == "RangeError" || e.Name == "ToolError" { // the words of others are the engine's
			fmt.Fprintf(&b, ": %q", e.Message)
		}
	}
	// What may have gone with a process is for each to say: a kernel's sends by a
	// thread of its own.
	got := slices.DeleteFunc(slices.Clone(res.Truncated), func(t codeinterp.Truncation) bool { return t.Reason == codeinterp.TruncatedByExit })
	fmt.Fprintf(&b, "; truncated %v", got)
	for _, a := range res.Artifacts {
		fmt.Fprintf(&b, "; artifact %s %s %d %s %q %s", a.Path, a.MIME, a.Size, a.SHA256, a.Data, a.Skipped)
	}
	for _, c := range res.Calls {
		fmt.Fprintf(&b, "; call %d %s %s %s %q", c.Number, c.Name, c.Args, c.Result, c.Error)
	}
	if res.CallbackErr != nil {
		fmt.Fprintf(&b, "; callback: %v", res.CallbackErr)
	}
	return b.String()
}

// joined returns outputs with the chunks of a stream that follow each other as one:
// how a text is cut into chunks is no promise.
func joined(outputs []codeinterp.Output) []codeinterp.Output {
	var all []codeinterp.Output
	for _, o := range outputs {
		if n := len(all) - 1; n >= 0 && (o.Kind == codeinterp.Stdout || o.Kind == codeinterp.Stderr) && all[n].Kind == o.Kind && all[n].Late == o.Late && o.Dropped == 0 {
			all[n].Data = slices.Concat(all[n].Data, o.Data)
			continue
		}
		all = append(all, o)
	}
	return all
}

// kind is the kind of an error.
func kind(err error) string {
	for _, is := range []error{codeinterp.ErrInvalid, codeinterp.ErrContext, codeinterp.ErrClosed, codeinterp.ErrLanguage,
		codeinterp.ErrCapacity, codeinterp.ErrUnavailable, errAgreed} {
		if errors.Is(err, is) {
			return fmt.Sprintf("error %q", is)
		}
	}
	if err == nil {
		return "no error"
	}
	return "another error: " + err.Error()
}
