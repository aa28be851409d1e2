//go:build real && unix

package subprocess_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestAnswerAtTheEnd: a program that ends before it reads an answer ends as it would
// without: who cannot write to it does not kill it.
func TestAnswerAtTheEnd(t *testing.T) {
	s := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}})
	closed := make(chan struct{})
	late := callstest.Function("late", func(ctx context.Context, _ map[string]any) (any, error) {
		select {
		case <-closed:
		case <-ctx.Done():
		}
		return 1, nil
	})
	// The job that calls dies, and nobody else has the channel.
	const code = `tool late > /dev/null & until [[ -s $__toolcell_tools/r ]]; do :; done
kill -9 "$(cut -d- -f1 "$__toolcell_tools/r")"; wait; exec 230<&-; echo closed; sleep 0.5; exit 3`
	res := run(t, s, "bash", code, &codeinterp.RunOptions{
		Timeout: time.Minute, Functions: []codeinterp.Function{late},
		OnOutput: func(o codeinterp.Output) error {
			if o.Kind == codeinterp.Stdout {
				close(closed)
			}
			return nil
		},
	})
	if res.Status != codeinterp.StatusError || res.ExitCode != 3 {
		t.Errorf("%v, exit code %d, cause %v", res.Status, res.ExitCode, res.Cause)
	}
}
