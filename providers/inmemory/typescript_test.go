package inmemory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/typescripttest"
)

// TestTypeScriptCounts has a translation that takes longer than the run may.
func TestTypeScriptCounts(t *testing.T) {
	s := open(t, both())
	id := create(t, s, "typescript")
	run(t, s, id, "let kept: number = 1", nil)
	source := strings.Repeat("let a1: number = 1; a1++;\n", 8<<20/26)
	res := run(t, s, id, source, &codeinterp.RunOptions{Timeout: time.Millisecond})
	if res.Status != codeinterp.StatusTimeout || res.StateLost {
		t.Errorf("got %v, lost %v: %v", res.Status, res.StateLost, res.Error)
	}
	if res := run(t, s, id, "kept", nil); res.Text() != "1" {
		t.Errorf("afterwards kept is %q", res.Text())
	}
}

// TestTypeScriptMemory has none left for a translation.
func TestTypeScriptMemory(t *testing.T) {
	opts := both()
	opts.MaxMemory = 140 << 20
	s := open(t, opts)
	res := run(t, s, create(t, s, "typescript"), "let a: number = 1;"+strings.Repeat(" ", 6<<20), nil)
	if res.Cause != codeinterp.CauseMemory || res.Status != codeinterp.StatusError {
		t.Errorf("got %v %v: %v", res.Status, res.Cause, res.Error)
	}
}

// TestTypeScriptPrograms runs what behaves the same in every provider.
func TestTypeScriptPrograms(t *testing.T) {
	s := open(t, both())
	for _, p := range typescripttest.Programs {
		res := run(t, s, create(t, s, "typescript"), p.Code, nil)
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
