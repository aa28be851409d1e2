//go:build real && unix

package subprocess_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestCanceledUnbegun: a run that is canceled when its process is ready for it, and the
// program not yet handed over, costs no state. OnOutput, which is shown late output before
// that, holds it up there.
func TestCanceledUnbegun(t *testing.T) {
	for _, tt := range []struct{ language, keep, leave, show, want string }{
		{"bash", "kept=1", "{ sleep 0.1; echo late; } & true", "echo $kept .stdin*", "1 .stdin*\n"},
		{"javascript", "var kept = 1", "require('child_process').spawn('sh', ['-c', 'sleep 0.1; echo late'], {stdio: 'inherit'}).unref()", "console.log(kept, String(require('fs').readdirSync('.').filter(f => f.startsWith('.stdin'))))", "1 \n"},
	} {
		t.Run(tt.language, func(t *testing.T) {
			n := newNotebook(t, open(t, subprocess.Options{Grace: time.Minute}), tt.language)
			n.run(tt.keep, nil)
			n.run(tt.leave, nil)
			canceled := false
			for end := time.Now().Add(30 * time.Second); !canceled && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				ctx, cancel := context.WithCancel(t.Context())
				res, _ := n.ci.RunInContext(ctx, n.id, "", &codeinterp.RunOptions{Stdin: []byte("x"), OnOutput: func(codeinterp.Output) error {
					canceled = true
					cancel()
					time.Sleep(100 * time.Millisecond) // in which it is canceled, or a little later
					return nil
				}})
				cancel()
				if res.StateLost {
					t.Errorf("%s, lost", summary(res))
				}
			}
			if !canceled {
				t.Fatal("no late output came")
			}
			// The file of the input, too, is gone.
			res := n.run(tt.show, nil)
			if res.Status != codeinterp.StatusOK || res.StateLost || string(res.Outputs[len(res.Outputs)-1].Data) != tt.want {
				t.Error(summary(res), res.StateLost)
			}
		})
	}
}
