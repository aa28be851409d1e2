// Package typescript makes a TypeScript engine of a JavaScript engine.
//
//	js := quickjs.New(nil)
//	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
//
// Each program is translated by itself, in some microseconds, as part of its run. Positions
// in errors are those of the TypeScript source. What a program imports from files that end
// in .ts or .mts is translated in the same way; they may be named without that, or as the
// .js that a compiler would make of them.
//
// # Limits
//
// Types are erased, not checked: a program with type errors runs. Imports are kept, also of
// names that are only types; write import type for those. Namespaces with values,
// decorators, accessor, using, JSX and merging of declarations are a SyntaxError. A program
// that nests deeper than 1,000 levels is refused.
package typescript

import (
	"context"
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/typescript"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// An Engine makes TypeScript instances.
type Engine struct{ javascript engine.Engine }

var _ engine.Engine = (*Engine)(nil)

// New returns an engine that runs TypeScript in instances of a JavaScript
// engine.
func New(javascript engine.Engine) *Engine { return &Engine{javascript} }

// Info implements engine.Engine.
func (e *Engine) Info() codeinterp.LanguageInfo {
	js := e.javascript.Info()
	return codeinterp.LanguageInfo{
		Name:       "typescript",
		Runtime:    js.Runtime + " (types erased)",
		Functions:  js.Functions,
		Completion: js.Completion,
		Notes:      "Types are erased, not checked. " + js.Notes,
	}
}

// Limits implements engine.Engine.
func (e *Engine) Limits() engine.Limits { return e.javascript.Limits() }

// New implements engine.Engine.
func (e *Engine) New(c engine.Config) (engine.Instance, error) {
	inst, err := e.javascript.New(c)
	if err != nil {
		return nil, err
	}
	return instance{inst, c.Budget}, nil
}

// An instance translates programs and hands them on.
type instance struct {
	engine.Instance
	budget *engine.Budget
}

// Run implements engine.Instance.
func (i instance) Run(ctx context.Context, p engine.Program, h engine.Host) engine.Outcome {
	js, out := i.translate(ctx, p, h)
	if js == nil {
		return out
	}
	if n := int64(len(js.Code)) + js.Size(); n > small {
		if !i.budget.Take(n) {
			return outOfMemory()
		}
		defer i.budget.Give(n)
	}
	p = translated(p, js)
	p.Extensions = extensions
	p.Translate = func(name, source string) (engine.Program, engine.Outcome, bool) {
		file := engine.Program{Name: name, Code: source}
		js, out := i.translate(ctx, file, h)
		if js == nil {
			return engine.Program{}, out, false
		}
		return translated(file, js), out, true
	}
	return i.Instance.Run(ctx, p, h)
}

// extensions are those of files that a program may import as modules.
var extensions = []string{".ts", ".mts"}

// translated is p in JavaScript.
func translated(p engine.Program, js *typescript.Program) engine.Program {
	p.Code = js.Code
	if js.Moved() {
		p.Position, p.PositionSize = js.Positions.Position, js.Size()
	}
	return p
}

// Complete implements engine.Completer: what there is, is the same in both
// languages.
func (i instance) Complete(ctx context.Context, code string) (start int, matches []string, err error) {
	if c, ok := i.Instance.(engine.Completer); ok {
		return c.Complete(ctx, code)
	}
	return len(code), nil, nil
}

// small is up to what size a program's translation is not counted, as many
// other little things are not.
const small = 16 << 10

// translate returns the program in JavaScript, or how the run ended without
// one.
func (i instance) translate(ctx context.Context, p engine.Program, h engine.Host) (*typescript.Program, engine.Outcome) {
	if len(p.Code) > small {
		n := typescript.Memory(len(p.Code))
		if !i.budget.Take(n) {
			return nil, outOfMemory()
		}
		defer i.budget.Give(n)
	}
	js, err := typescript.Erase(breather{ctx, h}, p.Code)
	if err == nil {
		return js, engine.Outcome{}
	}
	if e, ok := errors.AsType[*typescript.SyntaxError](err); ok {
		return nil, engine.Outcome{ExitCode: 1, Error: e.ProgramError(p.Name, p.Code)}
	}
	return nil, engine.Outcome{Stopped: true}
}

func outOfMemory() engine.Outcome {
	return engine.Outcome{ExitCode: 1, Cause: codeinterp.CauseMemory, Error: &codeinterp.ProgramError{
		Name: "InternalError", Message: "out of memory: there is none left to translate the program",
	}}
}

// breather lets other programs run whenever it is asked whether to go on.
type breather struct {
	context.Context
	host engine.Host
}

// Err implements context.Context.
func (b breather) Err() error {
	b.host.Breathe()
	return b.Context.Err()
}
