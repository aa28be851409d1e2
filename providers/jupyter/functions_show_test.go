//go:build linux

package jupyter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
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

// TestMarksOfCalls: messages that say where calls are among the output do not have
// the server drop what is spooled to stay within its limit.
func TestMarksOfCalls(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		opts := &codeinterp.RunOptions{Functions: callstest.Functions(t), Timeout: 5 * time.Minute, MaxOutput: 16 << 20}
		res, err := c.run("for i in range(300): print(i); tools.nothing()\nget_ipython()._toolcell.pump.place", opts)
		if marks, _ := strconv.Atoi(res.Text()); err != nil || !res.OK() || marks == 0 || len(strings.Fields(res.Stdout())) != 300 || len(res.Truncated) > 0 {
			t.Errorf("%s marks, %d bytes, %+v, %+v, %v", res.Text(), len(res.Stdout()), res.Truncated, res.Error, err)
		}
		res, err = c.run("print(9_000_000 * 'x', flush=True)\nbefore = get_ipython()._toolcell.pump.place\nfor i in range(9): print(i); tools.nothing()\nget_ipython()._toolcell.pump.place - before", opts)
		if err != nil || res.Text() != "0" || len(res.Stdout()) != 9_000_001+18 || len(res.Truncated) > 0 {
			t.Errorf("%s marks behind what was spooled, %d bytes, %+v, %+v, %v", res.Text(), len(res.Stdout()), res.Truncated, res.Error, err)
		}
	})
}
