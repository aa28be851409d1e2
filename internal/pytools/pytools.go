// Package pytools holds what Python programs see of the host's functions, and which
// run of a context what goes on in their threads belongs to. All providers that run
// Python embed the same source, and carry the calls in their own way.
package pytools

import (
	_ "embed"

	"github.com/toolcell/toolcell/codeinterp"
)

// Names returns what offer in Source takes: the names of functions, and behind an
// empty one those that are not listed.
func Names(functions []codeinterp.Function) []string {
	listed, others := make([]string, 0, len(functions)+1), []string(nil)
	for _, f := range functions {
		if f.Unlisted {
			others = append(others, f.Name)
		} else {
			listed = append(listed, f.Name)
		}
	}
	if len(others) > 0 {
		listed = append(append(listed, ""), others...)
	}
	return listed
}

// Source defines tools, its aio, ToolError and offer(names), which makes
// functions known in place of those that were before, see Names. The source around it
// defines call(name, args, kwargs), the coroutine call_aio of the same
// arguments, line_of(file, number), which returns a line of a program,
// MAX_ARGS and MAX_NESTED; arguments and outcome are for them.
//
//go:embed tools.py
var Source string

// Runs defines note_threads(), which has threads and the work of their pools know
// what they belong to, and belongs, whose attribute to that is, None where nothing is
// known. The source around it defines present() and enter(mark), which Runs describes,
// and calls note_threads once.
//
//go:embed runs.py
var Runs string

// Contexts defines carry_contexts(), which makes threads and the work of pools belong to
// the run that started them.
//
//go:embed contexts.py
var Contexts string

// Loops defines PutOff, an interrupt that is looked at until it may raise
// KeyboardInterrupt, waits(off, frame), which tells the handler whether it may not yet,
// and Again, of which the handler then makes a variable of its own.
//
//go:embed loops.py
var Loops string
