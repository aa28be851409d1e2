//go:build linux

package jupyter_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestComplete: the kernel's completer answers, in bytes; one that does not come to
// an end is ended before the next program, which finds the state.
func TestComplete(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		of, ok := codeinterp.Completions(c.ci)
		if !ok {
			t.Fatal("no Completions")
		}
		if res, err := c.run("größe_one = [1]\nclass Hangs:\n  def __dir__(self):\n    import time\n    while True: time.sleep(0.01)\nhangs = Hangs()", nil); err != nil || !res.OK() {
			t.Fatal(res, err)
		}
		for code, want := range map[string]string{"'😀é'; grö": "'😀é'; größe_one", "größe_one.appe": "größe_one.append"} {
			got, err := of.Complete(t.Context(), c.id, code+" #", len(code))
			for tries := 0; tries < 20 && errors.Is(err, codeinterp.ErrUnavailable); tries++ { // the first one loads much
				got, err = of.Complete(t.Context(), c.id, code+" #", len(code))
			}
			if err != nil || got.End != len(code) || !slices.ContainsFunc(got.Matches, func(m string) bool { return code[:got.Start]+m == want }) {
				t.Errorf("%q: %+v, %v", code, got, err)
			}
		}
		if _, err := of.Complete(t.Context(), c.id, "hangs.", 6); !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("a completer that hangs: %v", err)
		}
		res, err := c.run("größe_one[0]", nil)
		if err != nil || res.Text() != "1" || res.StateLost || res.Stderr() != "" {
			t.Errorf("the run after it: %+v, %v", res, err)
		}
	})
}

// TestSlowCompleter: a completer that goes on for a while after it was interrupted, as
// one does that has much to load first, costs no variables.
func TestSlowCompleter(t *testing.T) {
	t.Parallel()
	c := realSession(t, sharedServer(t, "server6"), jupyter.Options{Grace: 100 * time.Millisecond})
	c.ok(`import time
kept = 1
class Slow:
  def __dir__(self):
    end = time.monotonic() + 3
    while time.monotonic() < end:
      try: time.sleep(0.05)
      except KeyboardInterrupt: pass
    return []
slow = Slow()`)
	of, _ := codeinterp.Completions(c.ci)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if got, err := of.Complete(ctx, c.id, "slow.", 5); err == nil {
		t.Errorf("the completer did not take long: %+v", got)
	}
	if res, err := c.run("kept", nil); err != nil || res.Text() != "1" || res.StateLost || res.Stderr() != "" {
		t.Errorf("the run after it: %+v, %v", res, err)
	}
}

// TestCompleteAfterCut: a connection that was lost between runs is no reason to have
// nothing to complete with.
func TestCompleteAfterCut(t *testing.T) {
	t.Parallel()
	s := sharedServer(t, "server6")
	p := newCutter(t, s.url)
	c := realSession(t, s, jupyter.Options{DialContext: p.dial})
	of, _ := codeinterp.Completions(c.ci)
	c.ok("toolcell_name = 1")
	for range 3 {
		p.cut()
		var got codeinterp.Completion
		err := codeinterp.ErrUnavailable
		for tries := 0; tries < 20 && errors.Is(err, codeinterp.ErrUnavailable); tries++ {
			got, err = of.Complete(t.Context(), c.id, "toolcell_na", 11)
		}
		if err != nil || !slices.Contains(got.Matches, "toolcell_name") {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if res := c.ok("toolcell_name"); res.Text() != "1" || res.StateLost {
		t.Errorf("%+v", res)
	}
}
