package driver

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// notAwaited matches Python's errors for awaiting the result of a function.
var notAwaited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`can't be used in 'await' expression$|can't be awaited$|awaitable is required$|coroutine was expected, got `)
})

// awaitedAmong reports whether asyncio.gather was given a result; the error only says
// that it cannot be a key.
func awaitedAmong(e *codeinterp.ProgramError) bool {
	return strings.HasPrefix(e.Message, "unhashable type: ") && slices.ContainsFunc(e.Traceback, func(line string) bool { return strings.Contains(line, ", in gather") })
}

const notAwaitedHint = " (tools.name(...) returns the result itself; to await it, write await tools.aio.name(...))"

// notThere matches the error of JavaScript engines for calling a function that does
// not exist.
var notThere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^tools\.[\w$]+ is not a function$`)
})

// ofNothing matches their error for tools.shop.orders if tools.shop does not exist; it
// does not name shop.
var ofNothing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Cannot read properties of undefined \(reading '([\w$]+)'\)$`)
})

// byPosition matches the error of Python's stubs, which do not know the names.
var byPosition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^tools\.(\w+) takes its arguments by name$`)
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
	case python && (notAwaited().MatchString(e.Message) || awaitedAmong(e)) && c.called():
		hint = notAwaitedHint
	case python:
		hint = c.namesOfArguments(e.Message)
	case notThere().MatchString(e.Message):
		hint = "; there is: " + c.names()
	default:
		if name := c.missing(e.Message); name != "" {
			hint = "; there is no tools." + name + "; there is: " + c.names()
		}
	}
	if hint == "" {
		return
	}
	for i, line := range e.Traceback {
		if strings.HasSuffix(line, e.Message) {
			e.Traceback = slices.Clone(e.Traceback)
			e.Traceback[i] += hint
			break
		}
	}
	e.Message += hint
}

// Bounds of the search in a program's source.
const (
	maxHinted = 256 << 10
	maxPlaces = 100
)

// missing returns the name of the missing object in tools.name.function.
func (c *calls) missing(message string) string {
	m := ofNothing().FindStringSubmatch(message)
	if m == nil || len(m[1]) > 100 || len(c.run.prog.Code) > maxHinted {
		return ""
	}
	calls := regexp.MustCompile(`\btools\s*\.\s*([A-Za-z_$][\w$]*)\s*\.\s*` + regexp.QuoteMeta(m[1]) + `(?:$|[^\w$])`)
	for _, of := range calls.FindAllStringSubmatch(c.run.prog.Code, maxPlaces) {
		if _, ok := c.find(of[1]); !ok {
			return of[1]
		}
	}
	return ""
}

// namesOfArguments returns the argument names for a call by position.
func (c *calls) namesOfArguments(message string) string {
	m := byPosition().FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	i, ok := c.find(m[1])
	// Without such a function, i may be beyond the last.
	names := required(c.functions[min(i, len(c.functions)-1)].Input)
	if !ok || len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, "=..., ") + "=..."
}

// such describes the arguments of a function.
func such(input json.RawMessage) string {
	names := required(input)
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = strconv.Quote(name) + ": ..."
	}
	return " such as {" + strings.Join(names, ", ") + "}"
}

// required returns up to five required arguments.
func required(input json.RawMessage) []string {
	var schema struct {
		Required []string `json:"required"`
	}
	if len(input) > 64<<10 || json.Unmarshal(input, &schema) != nil {
		return nil
	}
	return schema.Required[:min(len(schema.Required), 5)]
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
