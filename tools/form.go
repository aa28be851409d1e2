package tools

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// stripFence returns the inside of code if all of it is one Markdown code
// fence, else code itself. Backticks within the program survive.
func stripFence(code string) string {
	s := strings.TrimSpace(code)
	fence := fenceOf(s)
	first, rest, ok := strings.Cut(s, "\n")
	if fence == "" || !ok || strings.Contains(first[len(fence):], fence[:1]) {
		return code
	}
	i := strings.LastIndexByte(rest, '\n') + 1
	last := strings.TrimSpace(rest[i:])
	if len(last) < len(fence) || strings.Trim(last, fence[:1]) != "" || severalBlocks(rest[:i], fence) {
		return code
	}
	return rest[:i]
}

// fenceOf returns the run of at least three backticks or tildes that s begins
// with.
func fenceOf(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 {
		return ""
	}
	return s[:n]
}

// severalBlocks reports whether body, the lines between the first and the last
// fence, closes the first block and opens another.
func severalBlocks(body, fence string) bool {
	closed := false
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\r\n")
		f := fenceOf(line)
		if len(f) < len(fence) || f[0] != fence[0] {
			continue
		}
		bare := f == line
		if !closed && !bare {
			return false
		}
		if closed && !bare {
			return true
		}
		closed = true
	}
	return false
}

var functionProgram = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(export\s+default\s+)?(async\b\s*)?(\(|function\b|[\w$]+\s*=>)`)
})

// formHint says how to write a program that did not run because of its form: elsewhere
// programs are functions.
func formHint(code string, res *codeinterp.Result) string {
	if e := res.Error; e != nil && e.Name == "SyntaxError" && strings.Contains(e.Message, "return") {
		return "A program is a script, not the body of a function: its last expression is the result; write it without return."
	}
	for i := range res.Outputs {
		o := &res.Outputs[i]
		if o.Kind != codeinterp.Value {
			continue
		}
		text := readable(o).Data
		isFunction := bytes.HasPrefix(text, []byte("[Function")) || bytes.HasPrefix(text, []byte("[AsyncFunction"))
		if isFunction && functionProgram().MatchString(strings.TrimSpace(code)) {
			return "Nothing ran: the program is a function that is not called. A program is a script whose last expression is the result; write the body alone, with await at top level."
		}
	}
	return ""
}
