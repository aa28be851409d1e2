// Package pytools holds Python source that all providers of Python share: what programs
// see of the host's functions, and how threads belong to runs. Each provider carries the
// calls in its own way.
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
// and MAX_ARGS; arguments and outcome are for them.
//
//go:embed tools.py
var Source string

// Contexts defines carry_contexts(), which makes threads and the work of pools belong to
// the run that started them, and carry(module), which does so for threading or
// concurrent.futures.thread alone. It imports nothing before.
//
//go:embed contexts.py
var Contexts string
