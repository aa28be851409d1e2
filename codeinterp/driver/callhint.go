package driver

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// notAwaited matches Python's errors for awaiting the result of a function.
var notAwaited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`can't be used in 'await' expression$|can't be awaited$|awaitable is required$|coroutine was expected, got `)
})

// notThere matches the error of JavaScript engines for calling a function that does
// not exist.
var notThere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^tools\.[\w$]+ is not a function$`)
})

// hint adds to a program's error what it should have written, if it awaited a result
// or called a function that does not exist.
func (c *calls) hint(e *codeinterp.ProgramError) {
	if e == nil || e.Name != "TypeError" || len(c.functions) == 0 {
		return
	}
	hint := ""
	switch python := c.run.slot.opts.Language == "python"; {
	// Python says the same of any value; only a program that called can mean a function.
	case python && notAwaited().MatchString(e.Message) && c.called():
		hint = " (tools.name(...) returns the result itself; to await it, write await tools.aio.name(...))"
	case !python && notThere().MatchString(e.Message):
		hint = "; there is: " + c.names()
	default:
		return
	}
	if i := slices.IndexFunc(e.Traceback, func(line string) bool { return strings.HasSuffix(line, e.Message) }); i >= 0 {
		e.Traceback = slices.Clone(e.Traceback)
		e.Traceback[i] += hint
	}
	e.Message += hint
}

func (c *calls) called() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count > 0
}

// names returns the names of listed functions.
func (c *calls) names() string {
	var list []string
	for _, f := range c.functions {
		if !f.Unlisted {
			list = append(list, f.Name)
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
