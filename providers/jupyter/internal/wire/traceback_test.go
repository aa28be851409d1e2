package wire_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestLongErrors: of the traceback that a kernel reports no more is read than anybody is shown, and
// the rest is counted. Its ends stay.
func TestLongErrors(t *testing.T) {
	const many = 8 << 20
	for name, f := range map[string]*wire.ErrorContent{
		"newlines": {Traceback: []string{"first\n" + strings.Repeat("\n", many) + "last"}},
		"one line": {Traceback: []string{"first\n" + strings.Repeat("x", many) + "\nlast"}},
		"colours":  {Traceback: []string{"first\n" + strings.Repeat("\x1b[0m", many/4) + "\nlast"}},
		"items":    {Traceback: append(append([]string{"first"}, make([]string, many/8)...), strings.Repeat("x", many), "last")},
	} {
		t.Run(name, func(t *testing.T) {
			e, lost := wire.NewProgramError(f, 1)
			held := len(e.Name) + len(e.Message) + len(e.MissingModule)
			for _, list := range [][]string{e.Traceback, e.RawTraceback} {
				for _, line := range list {
					held += len(line) + 16
				}
			}
			// A line of one byte costs 17.
			if held > 20<<20 {
				t.Errorf("%d bytes are held", held)
			}
			if lost < many-1<<20 || lost > 3*many {
				t.Errorf("%d bytes are reported as left out, of %d", lost, many)
			}
			if n := len(e.Traceback); n > 0 && (e.Traceback[0] != "first" || e.Traceback[n-1] != "last") {
				t.Errorf("from %.20q to %.20q", e.Traceback[0], e.Traceback[n-1])
			}
		})
	}
}
