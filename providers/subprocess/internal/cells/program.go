// Package cells prepares programs in JavaScript and TypeScript for the driver: it erases
// types, and replaces what V8's inspector does not evaluate.
package cells

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/internal/typescript"
)

// A Program is code as the driver gets it.
type Program struct {
	Code   string
	Failed *codeinterp.ProgramError // the error of a program that cannot be prepared
	source *typescript.Program      // nil if no position has moved
	Cell   int                      // the number of the program in its process
}

// Needs reports whether Prepare changes a program.
func Needs(typed bool, code string) bool { return typed || mayImport(code) || mayBeModule(code) }

// Prepare turns a program into the code that the driver executes. Its error is ctx's.
func Prepare(ctx context.Context, typed bool, code string) (p *Program, err error) {
	p = &Program{Code: code}
	if typed {
		if p, err = eraseTypes(ctx, code); err != nil || p.Failed != nil {
			return p, err
		}
	}
	if !mayImport(p.Code) && !mayBeModule(p.Code) {
		return p, nil
	}
	// A translation may be many times as long as the code that Wait counted.
	js, err := typescript.Replace(ctx, p.Code, typescript.Words{Import: dynamicImport, This: noThis}, typescript.Memory(len(code)))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// Of what is no JavaScript the engine says what is wrong.
	if err == nil && js != nil {
		p.Code = js.Code
	}
	return p, nil
}

// dynamicImport is the driver's function that stands for import(...), which V8's inspector
// does not evaluate. It is as long, so that columns stay.
const dynamicImport = "__impt"

var importCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bimport[\s\pZ\x{FEFF}]*(?:\(|/[/*])`)
})

// noThis is a variable of the driver's that is undefined, as this is at the top of a
// module. It is as long, so that columns stay.
const noThis = "__th"

// mayBeModule reports whether a program in JavaScript is perhaps a module that uses this.
func mayBeModule(code string) bool {
	return strings.Contains(code, "this") && (strings.Contains(code, "import") || strings.Contains(code, "export"))
}

// mayImport reports whether a program in JavaScript perhaps calls import(...).
func mayImport(code string) bool {
	return strings.Contains(code, "import") && importCall().MatchString(code)
}

// eraseTypes turns TypeScript into JavaScript. Its error is ctx's, which it
// obeys.
func eraseTypes(ctx context.Context, code string) (*Program, error) {
	js, err := typescript.Erase(ctx, code)
	if e, ok := errors.AsType[*typescript.SyntaxError](err); ok {
		return &Program{Failed: e.ProgramError("program.ts", code)}, nil
	}
	if err != nil {
		return nil, err
	}
	p := &Program{Code: js.Code}
	if js.Moved() {
		p.source = js
	}
	return p, nil
}

// position is a place in a program, as node writes it.
var position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bcell-(\d+):(\d+):(\d+)`) })

// Locate completes an error of the driver's: columns of generated code become
// those of the original, and ANSI sequences go to RawTraceback.
func (p *Program) Locate(e *codeinterp.ProgramError) *codeinterp.ProgramError {
	if p.Failed != nil {
		return p.Failed
	}
	if e == nil {
		return nil
	}
	if p.source != nil {
		for i, line := range e.Traceback {
			e.Traceback[i] = position().ReplaceAllStringFunc(line, p.relocate)
		}
	}
	raw := e.Traceback
	for i, line := range raw {
		if strings.ContainsRune(line, '\x1b') {
			if e.RawTraceback == nil {
				e.RawTraceback, e.Traceback = raw, append([]string(nil), raw...)
			}
			e.Traceback[i] = ansi.Strip(line)
		}
	}
	return e
}

func (p *Program) relocate(at string) string {
	m := position().FindStringSubmatch(at)
	if m[1] != strconv.Itoa(p.Cell) {
		return at
	}
	line, _ := strconv.Atoi(m[2])
	column, _ := strconv.Atoi(m[3])
	line, column = p.source.Position(line, column)
	return fmt.Sprintf("cell-%d:%d:%d", p.Cell, line, column)
}
