package codemode

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
)

// A functionInterpreter gives each run the functions of a mode. It has one language and
// no contexts.
type functionInterpreter struct{ *Mode }

var _ codeinterp.Describer = functionInterpreter{}

// Interpreter returns an interpreter for programs in the language of the mode, which can
// call its functions. Close closes the interpreter that the mode was made with.
func (m *Mode) Interpreter() codeinterp.CodeInterpreter { return functionInterpreter{m} }

// Languages implements codeinterp.CodeInterpreter.
func (g functionInterpreter) Languages() []string { return []string{g.language} }

// Close implements codeinterp.CodeInterpreter.
func (g functionInterpreter) Close() error { return g.ci.Close() }

// Describe implements codeinterp.Describer.
func (g functionInterpreter) Describe() codeinterp.Info {
	info := codeinterp.Describe(codeinterp.Stateless(g.ci))
	info.Languages = slices.DeleteFunc(slices.Clone(info.Languages), func(l codeinterp.LanguageInfo) bool { return l.Name != g.language })
	return info
}

// RunCode implements codeinterp.CodeInterpreter.
func (g functionInterpreter) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	language, err := codeinterp.ResolveLanguage(language, g.Languages())
	if err != nil {
		return codeinterp.NotRun(), &codeinterp.Error{Provider: "codemode", Op: "run", Err: err}
	}
	o := codeinterp.RunOptions{}
	if opts != nil {
		o = *opts
	}
	if g.opts.OnRun != nil {
		g.opts.OnRun(ctx, code)
	}
	o.Functions, o.FunctionLimits = observe.Functions(g.table().given), g.opts.Limits
	k := &runFiles{paths: map[string]bool{}}
	ctx = context.WithValue(ctx, runFilesKey{}, k)
	return g.run(ctx, language, code, &o, k)
}

// deleting bounds the delete of the context of a program that has ended.
const deleting = 30 * time.Second

// run runs a program, in a context of its own if it gets files.
func (g functionInterpreter) run(ctx context.Context, language, code string, o *codeinterp.RunOptions, k *runFiles) (codeinterp.Result, error) {
	stateful, ok := codeinterp.Stateful(g.ci)
	files, found := codeinterp.Files(g.ci)
	if !g.opts.Files || !ok || !found || !hasContexts(g.ci, language) {
		return g.ci.RunCode(ctx, language, code, o)
	}
	// Before a context is made: an invalid call makes none.
	if _, err := codeinterp.CheckRun(code, o); err != nil {
		return codeinterp.NotRun(), &codeinterp.Error{Provider: "codemode", Op: "run", Err: err}
	}
	id, err := stateful.CreateContext(ctx, language, nil)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	k.open = func(ctx context.Context) (codeinterp.FS, error) { return files.OpenFiles(ctx, id) }
	res, err := stateful.RunInContext(ctx, id, code, o)
	// The context is ours, and holds no state of a caller.
	res.StateLost, res.ExecutionCount = false, 0
	// The context is deleted even if the caller has gone.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleting)
	defer cancel()
	return res, errors.Join(err, stateful.DeleteContext(end, id))
}

func hasContexts(ci codeinterp.CodeInterpreter, language string) bool {
	return slices.ContainsFunc(codeinterp.Describe(ci).Languages, func(l codeinterp.LanguageInfo) bool { return l.Name == language && l.Contexts })
}
