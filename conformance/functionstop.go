package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

// afterEnd has a call come after the end of the run that it is of, while another
// goes on, wake, that has a function of the same name.
func (e *env) afterEnd(ctx context.Context, left func(name, args string) string, wake string) error {
	var called atomic.Int64
	f := codeinterp.Function{Name: "left", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		called.Add(1)
		return nil, nil
	}}
	id := need(e.context(ctx, nil))
	for _, code := range []string{left("left", "{}"), wake} {
		res, err := e.stateful().RunInContext(ctx, id, code, &codeinterp.RunOptions{Functions: []codeinterp.Function{f}})
		switch {
		case err != nil || !res.OK():
			return wantOK(res, err)
		case called.Load() != 0 || len(res.Calls) != 0:
			return fmt.Errorf("%d calls were served, %d are in Calls; want none after the end", called.Load(), len(res.Calls))
		case code == wake:
			return wantText("what the call came to", strings.TrimSpace(res.Stdout()), "refused")
		}
	}
	return nil
}
