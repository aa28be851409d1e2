package screen

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/workspace"
)

// TestColor checks what only a terminal gets to see.
func TestColor(t *testing.T) {
	var out bytes.Buffer
	s := New(&out)
	s.color = true
	s.Event(workspace.Event{Type: workspace.TypeOutput, Output: codeinterp.Output{
		Kind: codeinterp.Stderr, Data: []byte("\x1b[5mno\n")}})
	if want := "\x1b[31mno\x1b[0m\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %q, want %q at the end", out.String(), want)
	}
}
