package subprocess

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

// A program is code as the driver gets it.
type program struct {
	code     string
	failed   *codeinterp.ProgramError // it never got that far
	source   *typescript.Program      // of which positions have moved, else nil
	declares names                    // what it declares, to be remembered at its end
	cell     int                      // how many programs the process had with this one
}

// eraseTypes turns TypeScript into JavaScript. Its error is ctx's, which it
// obeys.
func eraseTypes(ctx context.Context, code string) (*program, error) {
	js, err := typescript.Erase(ctx, code)
	if e, ok := errors.AsType[*typescript.SyntaxError](err); ok {
		return &program{failed: e.ProgramError("program.ts", code)}, nil
	}
	if err != nil {
		return nil, err
	}
	p := &program{code: js.Code}
	if js.Moved() {
		p.source = js
	}
	return p, nil
}

// position is a place in a program, as node writes it.
var position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bcell-(\d+):(\d+):(\d+)`) })

// locate completes an error of the driver's: columns of generated code become
// those of the original, and ANSI sequences go to RawTraceback.
func (p *program) locate(e *codeinterp.ProgramError) *codeinterp.ProgramError {
	if p.failed != nil {
		return p.failed
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

func (p *program) relocate(at string) string {
	m := position().FindStringSubmatch(at)
	if m[1] != strconv.Itoa(p.cell) {
		return at
	}
	line, _ := strconv.Atoi(m[2])
	column, _ := strconv.Atoi(m[3])
	line, column = p.source.Position(line, column)
	return fmt.Sprintf("cell-%d:%d:%d", p.cell, line, column)
}
