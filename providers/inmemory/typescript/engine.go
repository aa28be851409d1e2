// Package typescript makes a TypeScript engine of a JavaScript engine, by way
// of esbuild.
//
//	js := quickjs.New(nil)
//	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
//
// Each program is translated by itself, in well under a millisecond. Positions
// in errors are those of the TypeScript source.
//
// # Limits
//
// Types are erased, not checked: a program with type errors runs. Imports are
// kept, also of names that are only types; write import type for those. The
// decorators are TypeScript's experimental ones. A program that cannot be
// parsed is translated by nobody and fails with esbuild's message.
package typescript

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/toolcell/toolcell/codeinterp"
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
		Name:    "typescript",
		Runtime: js.Runtime + ", TypeScript by esbuild",
		Notes:   "Types are erased, not checked. " + js.Notes,
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
	if cloner, ok := inst.(engine.Cloner); ok {
		return cloning{instance{inst}, cloner}, nil
	}
	return instance{inst}, nil
}

// An instance translates programs and hands them on.
type instance struct{ engine.Instance }

// A cloning instance can be cloned, as the one below it can.
type cloning struct {
	instance
	cloner engine.Cloner
}

var _ engine.Cloner = cloning{}

// Clone implements engine.Cloner.
func (i cloning) Clone(c engine.Config) (engine.Instance, error) {
	inst, err := i.cloner.Clone(c)
	if err != nil {
		return nil, err
	}
	if cloner, ok := inst.(engine.Cloner); ok {
		return cloning{instance{inst}, cloner}, nil
	}
	return instance{inst}, nil
}

// Run implements engine.Instance.
func (i instance) Run(ctx context.Context, p engine.Program, h engine.Host) engine.Outcome {
	r := translate(p.Name, p.Code)
	if len(r.Errors) > 0 {
		return engine.Outcome{ExitCode: 1, Error: syntaxError(p.Name, r.Errors)}
	}
	m, err := parseMap(r.Map)
	if err != nil {
		return engine.Outcome{ExitCode: 1, Error: &codeinterp.ProgramError{Name: "InternalError", Message: err.Error()}}
	}
	p.Code, p.Position = string(r.Code)+dropped(p.Name, p.Code, string(r.Code)), m.position
	return i.Instance.Run(ctx, p, h)
}

// settings keep what a REPL needs: names and imports that this program does
// not use itself, but a later one may.
const settings = `{"compilerOptions": {"verbatimModuleSyntax": true, "experimentalDecorators": true, "useDefineForClassFields": true}}`

func translate(name, code string) api.TransformResult {
	code, object := wrapObject(code)
	r := api.Transform(code, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ESNext, Sourcefile: name, Sourcemap: api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude, TsconfigRaw: settings, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8,
	})
	if object && len(r.Errors) > 0 {
		return translate(name, code[1:len(code)-2]+"\n;")
	}
	return r
}

// wrapObject puts a program that is perhaps one object literal, which a script
// would take for a block, into parentheses.
func wrapObject(code string) (string, bool) {
	if t := strings.TrimSpace(code); strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		return "(" + code + "\n)", true
	}
	return code, false
}

// constant matches text that holds nothing but constants, operators, space and
// comments.
var constant = regexp.MustCompile("^(?:\\s|//[^\\n]*|/\\*[^*]*\\*/|[-+*/%!~<>=&|?:();,]|\\d[\\w.]*|\\.\\d+|" +
	"'[^'\\\\\\n]*'|\"[^\"\\\\\\n]*\"|`[^`\\\\$]*`|\\b(?:true|false|null|undefined|NaN|Infinity|typeof|void)\\b)+$")

// dropped returns the program's last statement where that is a constant
// expression. esbuild leaves those out, as they have no effect; but it is the
// program's value. What it left out is what makes no difference to it.
func dropped(name, source, translated string) string {
	end := strings.TrimRight(source, " \t\r\n;")
	for _, cut := range []int{strings.LastIndexByte(end, '\n') + 1, strings.LastIndexByte(end, ';') + 1, 0} {
		last := source[cut:]
		if len(last) > 1000 || !constant.MatchString(last) {
			continue
		}
		if r := translate(name, source[:cut]); len(r.Errors) == 0 && string(r.Code) == translated {
			return last + "\n"
		}
	}
	return ""
}

func syntaxError(name string, errors []api.Message) *codeinterp.ProgramError {
	first := errors[0]
	pe := &codeinterp.ProgramError{Name: "SyntaxError", Message: first.Text}
	pe.Traceback = []string{pe.Error()}
	for i, e := range errors {
		if e.Location == nil {
			continue
		}
		if i == 0 {
			pe.Line = e.Location.Line
		} else {
			pe.Traceback = append(pe.Traceback, "SyntaxError: "+e.Text)
		}
		pe.Traceback = append(pe.Traceback, fmt.Sprintf("    at %s:%d:%d", name, e.Location.Line, e.Location.Column+1))
	}
	return pe
}
