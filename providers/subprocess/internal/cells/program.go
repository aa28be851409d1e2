// Package cells prepares programs in JavaScript and TypeScript for the driver: it erases
// types, and adapts what a program declares to what earlier programs of its process have
// declared.
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
	Code     string
	Failed   *codeinterp.ProgramError // it never got that far
	source   *typescript.Program      // of which positions have moved, else nil
	Declares Names                    // what it declares, to be remembered at its end
	Cell     int                      // how many programs the process had with this one
}

// Needs reports whether Prepare has something to do for a program, which may be the only
// one of its process.
func Needs(typed bool, code string, once bool) bool {
	return typed || !once || mayImport(code) || mayBeModule(code)
}

// Prepare turns a program into the code that the driver executes. before are the names
// that earlier programs of the process have declared; nil if the process has one program.
// Its error is ctx's.
func Prepare(ctx context.Context, typed bool, code string, before Names) (p *Program, err error) {
	p = &Program{Code: code}
	if typed {
		if p, err = eraseTypes(ctx, code); err != nil || p.Failed != nil {
			return p, err
		}
	}
	if before == nil && !mayImport(p.Code) && !mayBeModule(p.Code) {
		return p, nil
	}
	// A translation may be many times as long as the code that Wait counted.
	o, err := typescript.Outlined(ctx, p.Code, typescript.Memory(len(code)))
	if err != nil {
		return nil, err
	}
	var added []string
	p.Code, added = before.adapt(o, p.Code)
	p.Declares = before.declares(o, added)
	return p, nil
}

// dynamicImport is the driver's function that a program calls for import(...), which
// V8 has not for what its inspector evaluates. It is as long, so that columns stay.
const dynamicImport = "__impt"

var importCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bimport[\s\pZ\x{FEFF}]*(?:\(|/[/*])`)
})

// noThis is a name of the driver's that is undefined, as this at the top of a module. It
// is as long, so that columns stay.
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
