package callstest

import (
	"context"
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
)

// Unlisted returns two functions, of which closed only says why it cannot be called,
// and is unlisted where that is set.
func Unlisted(unlisted bool) []codeinterp.Function {
	return []codeinterp.Function{
		{Name: "closed", Unlisted: unlisted, Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return nil, &codeinterp.FunctionError{Message: "not on Sundays"}
		}},
		{Name: "works", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
			return json.RawMessage("5"), nil
		}},
	}
}

// PythonUnlisted is a program that calls them, and one that there is not, and what it
// prints where closed is unlisted and where not.
func PythonUnlisted() (code, unlisted, listed string) {
	const rest = "closed: not on Sundays\n5 5\n"
	return `try: tools.nope()
except AttributeError as e: print(e)
try: tools.closed()
except ToolError as e: print(e)
print(tools.works(), await tools.aio.works())`,
		"there is no function nope; there is: works\n" + rest, "there is no function nope; there is: closed, works\n" + rest
}
