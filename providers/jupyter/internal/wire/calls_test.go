package wire_test

import (
	"testing"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestIsMark tells marks of ours from displays of programs that speak of them.
func TestIsMark(t *testing.T) {
	for content, want := range map[string]bool{
		`{"data": {"application/vnd.toolcell.place": "toolcell-N:1"}}`:                      true,
		`{"data": {"application/vnd.toolcell.spill": ""}, "metadata": {}}`:                  true,
		`{"data": {"text/plain": "application/vnd.toolcell.spill"}}`:                        false,
		`{"data": {"text/plain": "x", "application/vnd.toolcell.place": "toolcell-N:1"}}`:   false,
		`{"data": {"text/plain": "x"}, "metadata": {"application/vnd.toolcell.place": {}}}`: false,
		`application/vnd.toolcell.place`:                                                    false,
	} {
		if got := wire.IsMark([]byte(content)); got != want {
			t.Errorf("%s: %t", content, got)
		}
	}
}

func TestSpillOf(t *testing.T) {
	for content, want := range map[string]wire.Spill{
		`{"data": {"application/vnd.toolcell.spill": "own"}, "metadata": {}}`:       wire.OwnSpill,
		`{"data": {"application/vnd.toolcell.spill":"late"}, "metadata": {}}`:       wire.LateSpill,
		`{"data": {"application/vnd.toolcell.spill": 5}}`:                           wire.OwnSpill,
		`{"data": {"text/plain": "application/vnd.toolcell.spill"}}`:                wire.NoSpill,
		`{"data": {"application/vnd.toolcell.place": "n5"}, "metadata": {}}`:        wire.NoSpill,
		`{"data": {"application/vnd.toolcell.spill": "late"`:                        wire.NoSpill,
		`{"metadata": {"application/vnd.toolcell.spill": "late"}, "transient": {}}`: wire.NoSpill,
	} {
		if got := wire.SpillOf([]byte(content)); got != want {
			t.Errorf("%s: %v, want %v", content, got, want)
		}
	}
}
