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
