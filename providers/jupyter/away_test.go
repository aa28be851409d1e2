//go:build linux && real

package jupyter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestServerAway (contract row 8): a run whose server goes away is never ok, and its
// error says that the program may still be running. The context's next run ends what
// is left, and reports it once, in a late line.
func TestServerAway(t *testing.T) {
	ctx := t.Context()
	s := start(t, "server7", true)
	way, cut := cuttable(t, s)
	ci, err := open(ctx, way, jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(ctx, "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	var restore func()
	res, err := ci.RunInContext(ctx, id, "print('busy', flush=True)\nimport time\ntime.sleep(3600)", &codeinterp.RunOptions{
		Timeout: 5 * time.Second,
		OnOutput: func(codeinterp.Output) error {
			if restore == nil {
				restore = cut()
			}
			return nil
		},
	})
	if restore == nil {
		t.Fatal(res, err)
	}
	restore()
	if res.Status != codeinterp.StatusTimeout && (res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseServer) {
		t.Errorf("status %q, cause %q", res.Status, res.Cause)
	}
	if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "may") {
		t.Errorf("error %v", err)
	}
	late := func(o codeinterp.Output) bool { return o.Late }
	for run, want := range []bool{true, false} {
		res, err := ci.RunInContext(ctx, id, "print('next', end='')", nil)
		if err != nil || !res.OK() || res.Stdout() != "next" || slices.ContainsFunc(res.Outputs, late) != want {
			t.Errorf("run %d after it: %v, %v; late output: %v", run+1, res, err, want)
		}
	}
}
