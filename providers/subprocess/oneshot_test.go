//go:build real && unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestFileAtOnce: a program without a driver that prints and ends before the host
// does anything else, as where that is busy, is seen whole.
func TestFileAtOnce(t *testing.T) {
	sh := subprocess.Language{Name: "sh", Commands: []string{"sh"}, Extension: ".sh", Args: []string{subprocess.FileArg}, VersionArgs: []string{"-c", "echo 1"}}
	ci := open(t, subprocess.Options{Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}, Languages: []subprocess.Language{sh}})
	for range 20 {
		var seen string
		res, err := ci.RunCode(t.Context(), "sh", "echo out; echo err >&2; exit 3", &codeinterp.RunOptions{
			Timeout: time.Minute, OnOutput: func(o codeinterp.Output) error { seen += string(o.Data); return nil },
		})
		if err != nil || res.Status != codeinterp.StatusError || res.ExitCode != 3 || res.Stdout() != "out\n" || res.Stderr() != "err\n" || len(seen) != 8 {
			t.Fatalf("%s, %q, %v", summary(res), seen, err)
		}
	}
}
