package typescript

import (
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// A SyntaxError says why a program has no translation.
type SyntaxError struct {
	Message string
	// Line and Column count from 1, Column in UTF-16 code units.
	Line, Column int
	bound        bool // the program may be TypeScript, and exceeds a bound
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// ProgramError describes e as engines describe a syntax error, with the line of
// the source, unless that is long, and a caret below the column. name stands for
// the program in the traceback.
func (e *SyntaxError) ProgramError(name, source string) *codeinterp.ProgramError {
	pe := &codeinterp.ProgramError{Name: "SyntaxError", Message: e.Message, Line: e.Line}
	pe.Traceback = []string{pe.Error(), fmt.Sprintf("    at %s:%d:%d", name, e.Line, e.Column)}
	for range e.Line - 1 {
		_, source, _ = strings.Cut(source, "\n")
	}
	if line := firstLine(source); len(line) <= maxMarked {
		pe.Traceback = append(pe.Traceback, "    "+line, "    "+strings.Repeat(" ", e.Column-1)+"^")
	}
	return pe
}

// maxMarked is how long a line is shown in a traceback.
const maxMarked = 1000

// A bailout carries an error from the depth of the parser to Erase, and where a
// *SyntaxError is: a guess that fails needs no line.
type bailout struct {
	err    error
	offset int
}

// fail ends the parse at an offset.
func (p *parser) fail(offset int, message string) { p.stop(offset, message, false) }

func (p *parser) stop(offset int, message string, bound bool) {
	panic(bailout{&SyntaxError{Message: message, bound: bound}, offset})
}

// placed returns the error of a bailout with its line and column.
func (p *parser) placed(b bailout) error {
	if e, ok := b.err.(*SyntaxError); ok && e.Line == 0 {
		before := p.src[:min(b.offset, len(p.src))]
		e.Line = 1 + strings.Count(before, "\n")
		e.Column = 1 + units(before[strings.LastIndexByte(before, '\n')+1:])
	}
	return b.err
}

// unexpected ends the parse at the token at hand.
func (p *parser) unexpected() {
	message := "Invalid or unexpected token"
	switch t := p.tok; t.kind {
	case eof:
		message = "Unexpected end of input"
	case word:
		message = "Unexpected identifier '" + shorten(t.text) + "'"
		if reserved(t.text) {
			message = "Unexpected token '" + t.text + "'"
		}
	case punct:
		message = "Unexpected token '" + t.text + "'"
	case number:
		message = "Unexpected number"
	case str:
		message = "Unexpected string"
	case backquote:
		message = "Unexpected template string"
	case bad:
		message = t.text
	}
	p.fail(p.tok.start, message)
}

func shorten(name string) string {
	if len(name) <= 100 {
		return name
	}
	return strings.ToValidUTF8(name[:100], "") + "…"
}

// units returns the length of s in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
