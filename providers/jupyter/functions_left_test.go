//go:build linux

package jupyter_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestFunctionsOfWhatIsLeft: tasks, callbacks and threads that a run left behind,
// and what those start, call nothing in the next run, which calls itself.
func TestFunctionsOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		o := &codeinterp.RunOptions{Functions: callstest.Functions(t)}
		first, second, calls := callstest.Left()
		if res, err := c.run(first.Code, o); err != nil || !first.Ended(res) {
			t.Fatalf("%+v, %v", res, err)
		}
		if res, err := c.run(second.Code, o); err != nil || !second.Ended(res) || len(res.Calls) != calls {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// TestUnlistedFunction: a program that calls what is not there is not told of what only
// says why it cannot be called.
func TestUnlistedFunction(t *testing.T) {
	t.Parallel()
	code, unlisted, listed := callstest.PythonUnlisted()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range []struct {
			unlisted bool
			want     string
		}{{true, unlisted}, {false, listed}, {true, unlisted}} {
			res, err := c.run(code, &codeinterp.RunOptions{Functions: callstest.Unlisted(tt.unlisted)})
			if err != nil || res.Stdout() != tt.want {
				t.Errorf("%v: %s, %v, %v", tt.unlisted, res.Stdout(), res.Error, err)
			}
		}
	})
}

// TestRunsOfThreads: what threads call and print, raw ones and those of pools too, is
// the run's that started them, or that gave them what they do.
func TestRunsOfThreads(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		callstest.RunScenes(t, append(callstest.RunsOfPools(), callstest.Runs()...), c.run)
	})
}
