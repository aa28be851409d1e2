package jupyter_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestCountOfTheDead: a run is counted that its kernel does not survive, however soon
// that dies.
func TestCountOfTheDead(t *testing.T) {
	inFake(t, jupyter.Options{}, plays{"die": func(k *fake.Kernel, _ *fake.Message) { k.Die() }}.on, func(r *rig) {
		for range race.Some(200, 40) {
			r.ok("x")
			res, err := r.run("die", nil)
			if err != nil || res.Status != codeinterp.StatusLost || res.ExecutionCount != 2 {
				r.t.Fatalf("%+v, %v", res, err)
			}
		}
	})
}
