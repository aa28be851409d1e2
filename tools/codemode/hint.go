package codemode

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

var functionProgram = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(export\s+default\s+)?(async\b\s*)?(\(|function\b|[\w$]+\s*=>)`)
})

// hint says how to write a program that did not run because of its form: in other code
// modes programs are functions.
func hint(args []byte, res *codeinterp.Result) string {
	var c struct{ Code string }
	if res == nil || json.Unmarshal(args, &c) != nil {
		return ""
	}
	if e := res.Error; e != nil && e.Name == "SyntaxError" && strings.Contains(e.Message, "return") {
		return "[A program is a script, not the body of a function: its last expression is the result; write it without return.]\n"
	}
	for _, o := range res.Outputs {
		text := o.Text()
		if o.Kind == codeinterp.Value && functionProgram().MatchString(strings.TrimSpace(c.Code)) &&
			(strings.HasPrefix(text, "[AsyncFunction") || strings.HasPrefix(text, "[Function")) {
			return "[Nothing ran: the program is a function that is not called. A program is a script whose last expression is the result; write the body alone, with await at top level.]\n"
		}
	}
	return ""
}
