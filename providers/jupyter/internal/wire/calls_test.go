package wire_test

import (
	"testing"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestIsMark tells marks of ours from displays of programs that speak of them.
func TestIsMark(t *testing.T) {
	for content, want := range map[string]bool{
		`{"data": {"application/vnd.toolcell.place": "toolcell-N:1"}}`:                      true,
		`{"data": {"text/plain": "application/vnd.toolcell.place"}}`:                        false,
		`{"data": {"text/plain": "x", "application/vnd.toolcell.place": "toolcell-N:1"}}`:   false,
		`{"data": {"text/plain": "x"}, "metadata": {"application/vnd.toolcell.place": {}}}`: false,
		`application/vnd.toolcell.place`:                                                    false,
	} {
		if got := wire.IsMark([]byte(content)); got != want {
			t.Errorf("%s: %t", content, got)
		}
	}
}
