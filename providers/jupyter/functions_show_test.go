//go:build linux

package jupyter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestShowBehindOutput: what a function shows comes behind what the program printed
// or showed before the call, itself and by others, and before what it printed after.
func TestShowBehindOutput(t *testing.T) {
	t.Parallel()
	shows := codeinterp.Function{Name: "shows", Call: func(_ context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		c.Show(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("<shown>")}}})
		return nil, nil
	}}
	var want strings.Builder
	for i := range 8 {
		fmt.Fprintf(&want, "step %d\n<shown>echo %d\n<shown>'display %d'<shown>", i, i, i)
	}
	code := "import os\nfor i in range(8):\n  print('step', i); tools.shows()\n  os.system(f'echo echo {i}'); await tools.aio.shows()\n  display(f'display {i}'); tools.shows()"
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		opts := &codeinterp.RunOptions{Functions: []codeinterp.Function{shows}, Timeout: time.Minute}
		res, err := c.run(code, opts)
		if got := inOrder(res); err != nil || got != want.String() {
			t.Errorf("%q, %v", got, err)
		}
		res, err = c.ci.RunCode(t.Context(), "python", code, opts)
		if got := inOrder(res); err != nil || got != want.String() {
			t.Errorf("RunCode: %q, %v", got, err)
		}
	})
}

// inOrder is the text of all outputs.
func inOrder(res codeinterp.Result) string {
	var all strings.Builder
	for _, o := range res.Outputs {
		all.Write(o.Data)
		for _, r := range o.Bundle {
			if r.MIME == "text/plain" {
				all.Write(r.Data)
			}
		}
	}
	return all.String()
}
