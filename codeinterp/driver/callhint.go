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

// notAwaited matches what Python says of the await of a function's result, and
// asyncio of one among what it is to wait for.
var notAwaited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`can't be used in 'await' expression$|can't be awaited$|awaitable is required$|coroutine was expected, got `)
})

// awaitedAmong reports whether asyncio.gather was given a result, of which it
// says only that it cannot be a key.
func awaitedAmong(e *codeinterp.ProgramError) bool {
	return strings.HasPrefix(e.Message, "unhashable type: ") && slices.ContainsFunc(e.Traceback, func(line string) bool { return strings.Contains(line, ", in gather") })
}

const notAwaitedHint = " (tools.name(...) returns the result itself; to await it, write await tools.aio.name(...))"

// notThere matches what JavaScript engines say of a call of what is not there.
var notThere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^tools\.[\w$]+ is not a function$`)
})

// ofNothing matches what they say where tools.shop.orders is called and there is no
// tools.shop, of which they do not say the name.
var ofNothing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Cannot read properties of undefined \(reading '([\w$]+)'\)$`)
})

// byPosition matches what Python's stubs say; they do not know the names.
var byPosition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^tools\.(\w+) takes its arguments by name$`)
})

// hint adds to a program's error what it should have written: where it called
// functions and awaited what is no awaitable, or where it called one that is not
// there, which Python's error tells by itself.
func (c *calls) hint(e *codeinterp.ProgramError) {
	if e == nil || e.Name != "TypeError" || len(c.functions) == 0 {
		return
	}
	hint := ""
	switch python := c.run.slot.opts.Language == "python"; {
	// Python says the same of any value; only one who called may mean a function.
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

// What is looked at of a program's source, and how many places of it.
const (
	maxHinted = 256 << 10
	maxPlaces = 100
)

// missing returns the name that a program takes for something that has functions.
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

// namesOfArguments returns what the error of a call with arguments by position
// does not say.
func (c *calls) namesOfArguments(message string) string {
	m := byPosition().FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	i, ok := c.find(m[1])
	// Where there is no such function, i may be behind the last.
	names := required(c.functions[min(i, len(c.functions)-1)].Input)
	if !ok || len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, "=..., ") + "=..."
}

// such says what the arguments of a function look like.
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

// required returns arguments that a call has to have, five at most.
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
