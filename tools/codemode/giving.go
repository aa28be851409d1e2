package codemode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// A giving interpreter gives each run the functions of a mode. It has one
// language and no contexts.
type giving struct{ *Mode }

var _ codeinterp.Describer = giving{}

// Interpreter returns an interpreter for programs in the language of the mode,
// each of which has its functions. Close closes the one that the mode was opened
// with.
func (m *Mode) Interpreter() codeinterp.CodeInterpreter { return giving{m} }

// Languages implements codeinterp.CodeInterpreter.
func (g giving) Languages() []string { return []string{g.language} }

// Close implements codeinterp.CodeInterpreter.
func (g giving) Close() error { return g.ci.Close() }

// Describe implements codeinterp.Describer.
func (g giving) Describe() codeinterp.Info {
	info := codeinterp.Describe(codeinterp.Stateless(g.ci))
	info.Languages = slices.DeleteFunc(slices.Clone(info.Languages), func(l codeinterp.LanguageInfo) bool { return l.Name != g.language })
	return info
}

// RunCode implements codeinterp.CodeInterpreter.
func (g giving) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	language, err := codeinterp.ResolveLanguage(language, g.Languages())
	if err != nil {
		return codeinterp.NotRun(), &codeinterp.Error{Provider: "codemode", Op: "run", Err: err}
	}
	o := codeinterp.RunOptions{}
	if opts != nil {
		o = *opts
	}
	g.mu.Lock()
	o.Functions, o.FunctionLimits = tools.ObserveFunctions(g.now.given), g.opts.Limits
	g.mu.Unlock()
	k := &kept{paths: map[string]bool{}}
	ctx = context.WithValue(ctx, keptKey{}, k)
	res, err := g.run(ctx, language, code, &o, k)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, shown := range k.shown {
		res.Outputs = append(res.Outputs, shown)
		// Here, after the run, since the provider's calls of it are serial and have
		// ended.
		if o.OnOutput != nil && ctx.Err() == nil {
			res.CallbackErr = errors.Join(res.CallbackErr, observe(o.OnOutput, shown))
		}
	}
	return res, err
}

// observe calls fn, whose panics are errors.
func observe(fn func(codeinterp.Output) error, out codeinterp.Output) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in OnOutput: %v", p)
		}
	}()
	return fn(out)
}

// forget is how long the context of a program that has ended may take to go.
const forget = 30 * time.Second

// run runs a program, in a context of its own where it is to have files.
func (g giving) run(ctx context.Context, language, code string, o *codeinterp.RunOptions, k *kept) (codeinterp.Result, error) {
	stateful, ok := codeinterp.Stateful(g.ci)
	files, found := codeinterp.Files(g.ci)
	if !g.opts.Files || !ok || !found || !hasContexts(g.ci, language) {
		return g.ci.RunCode(ctx, language, code, o)
	}
	// Before there is a context: a call with a fault costs none.
	if _, err := codeinterp.CheckRun(code, o); err != nil {
		return codeinterp.NotRun(), &codeinterp.Error{Provider: "codemode", Op: "run", Err: err}
	}
	id, err := stateful.CreateContext(ctx, language, nil)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	k.open = func(ctx context.Context) (codeinterp.FS, error) { return files.OpenFiles(ctx, id) }
	res, err := stateful.RunInContext(ctx, id, code, o)
	// The context is ours, and nobody's state is in it.
	res.StateLost, res.ExecutionCount = false, 0
	// The context has to go, also where the caller has.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), forget)
	defer cancel()
	return res, errors.Join(err, stateful.DeleteContext(end, id))
}

func hasContexts(ci codeinterp.CodeInterpreter, language string) bool {
	return slices.ContainsFunc(codeinterp.Describe(ci).Languages, func(l codeinterp.LanguageInfo) bool { return l.Name == language && l.Contexts })
}
