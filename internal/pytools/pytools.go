// Package pytools holds what Python programs see of the host's functions. All
// providers that run Python embed the same source, and carry the calls in their
// own way.
package pytools

import _ "embed"

// Source defines tools, its aio, ToolError and offer(names), which makes
// functions known in place of those that were before. The source around it
// defines call(name, args, kwargs), the coroutine call_aio of the same
// arguments, line_of(file, number), which returns a line of a program,
// MAX_ARGS and MAX_NESTED; arguments and outcome are for them.
//
//go:embed tools.py
var Source string
