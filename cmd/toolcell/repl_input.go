package main

import (
	"io"
	"regexp"
	"sync"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
)

// mayRead matches programs that read standard input. Other programs get none, so that what
// is typed while they run is the next program.
var mayRead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\binput *\(|\bstdin\b|\bgetpass\b|\breadline\b|\bread\b|\bbreakpoint *\(|\bset_trace\b|\bprompt *\(|\bselect\b`)
})

// input returns the standard input of a program, or nil. done returns the terminal to the
// editor.
func (r *repl) input(program string) (in io.Reader, done func()) {
	done = func() {}
	e, ok := r.lines.(*editor)
	if !ok || !takesInput(r.interpreter, r.language) {
		return nil, done // the program would take the next lines
	}
	// What once reads may be called by any later program.
	if r.reads = r.reads || mayRead().MatchString(program); !r.reads {
		return nil, done
	}
	typed := terminal.NewReader(e.in)
	if typed == nil {
		return nil, done
	}
	return struct{ io.Reader }{typed}, func() { _ = typed.Close() } // not its descriptor
}
