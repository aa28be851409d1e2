//go:build real && full && linux

package subprocess_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestConformanceKeep is the contract for contexts that outlive the host.
func TestConformanceKeep(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	o := keepOptions(time.Minute)
	conform(t, o, subprocess.Python())
}

// TestLateInput: a kept command gets all of its input, however late it takes it.
func TestLateInput(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	o := &codeinterp.CommandOptions{Kept: &codeinterp.KeptCommand{}}
	o.Input = bytes.NewReader(make([]byte, 300_000))
	if res := command(t, open(t, keepOptions(time.Minute)), "sleep 7; wc -c", o); res.Stdout() != "300000\n" {
		t.Error(summary(res))
	}
}
