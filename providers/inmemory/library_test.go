package inmemory_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
)

// TestLibraryInterrupted: a timeout in the middle of loading a library does not
// spoil it for the programs that follow in the context.
func TestLibraryInterrupted(t *testing.T) {
	s := open(t, nil)
	const code = `Object.keys(require("util")).length + Object.keys(require("stream")).length + Object.keys(require("fs")).length > 9`
	start := time.Now()
	run(t, s, create(t, s, "javascript"), code, nil)
	whole := time.Since(start)
	times := 8
	if tier.Full {
		times = 100
	}
	for i := range times {
		id := create(t, s, "javascript")
		first := run(t, s, id, code, &codeinterp.RunOptions{Timeout: max(time.Microsecond, whole*time.Duration(i)/time.Duration(times))})
		if res := run(t, s, id, code, nil); res.Text() != "true" {
			t.Errorf("after %s: %s, %v", first.Status, res.Status, res.Error)
		}
		if err := s.DeleteContext(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}
