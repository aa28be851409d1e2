//go:build real && full && unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/internal/typescripttest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

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
