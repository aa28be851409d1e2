//go:build unix

package subprocess

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestBrokenByLimit: of a process that reached a limit, and whose channel was seen to
// close long before it had ended, the limit is reported; of one that did not, the channel.
func TestBrokenByLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits on what a tree uses are Linux's")
	}
	box, err := sandbox.New(&sandbox.Options{Require: sandbox.None, AllowNone: true})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	// Not the limit of a single process, which the kernel enforces by a signal.
	const greedy = `trap "" XCPU; (while :; do :; done) & while :; do :; done`
	for _, tt := range []struct {
		code  string
		cause codeinterp.Cause
		says  string
	}{
		{greedy, codeinterp.CauseCPU, "CPU time"},
		{"exit 3", codeinterp.CauseExit, "closed its control channel"},
	} {
		dir, err := box.TempDir()
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		sb, err := box.Start(&sandbox.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", tt.code}, Workdir: dir, Limits: sandbox.Limits{CPU: 1}})
		if err != nil {
			t.Fatal(err)
		}
		p := &process{sb: sb, broken: errors.New("the driver closed its control channel")}
		var o driver.Outcome
		p.unreported(&o, false)
		if o.Cause != tt.cause || o.Error == nil || !strings.Contains(o.Error.Message, tt.says) || !o.Lost {
			t.Errorf("%s: got %+v, %+v", tt.code, o, o.Error)
		}
	}
}
