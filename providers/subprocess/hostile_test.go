//go:build real && full && unix

package subprocess_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/typescripttest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestTypeScriptHostile runs what is made to end or occupy a translator, in
// processes of their own. However it ends, it does so with the run's timeout,
// and the provider lives on. The bound on how late is for busy machines.
func TestTypeScriptHostile(t *testing.T) {
	typescripttest.Run(t, 19, 10*time.Minute, func(t *testing.T) func(*testing.T, string) {
		ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.TypeScript()}})
		t.Cleanup(func() {
			res, err := ci.RunCode(context.Background(), "typescript", "1 as number + 1", nil)
			if err != nil || res.Text() != "2" {
				t.Errorf("afterwards 1+1 is %q, %v", res.Text(), err)
			}
		})
		return func(t *testing.T, source string) {
			began := time.Now()
			res, err := ci.RunCode(t.Context(), "typescript", source, &codeinterp.RunOptions{Timeout: time.Second})
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if err != nil {
				t.Error(err)
			}
			if res.Status == codeinterp.StatusNotRun {
				t.Errorf("status %v: %v", res.Status, res.Error)
			}
		}
	})
}

// TestTypeScriptPrograms runs what behaves the same in every provider.
func TestTypeScriptPrograms(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.TypeScript()}})
	for _, p := range typescripttest.Programs {
		res := run(t, ci, "typescript", p.Code, nil)
		failure, value := "", ""
		if res.Error != nil {
			failure = res.Error.Error()
		}
		for _, o := range res.Outputs {
			value += string(o.Value)
		}
		p.Check(t, res.Text(), value, failure)
	}
}
