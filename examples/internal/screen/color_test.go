package screen

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/workspace"
)

// TestColor checks what only a terminal gets to see.
func TestColor(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 2, 2))
	img.Set(0, 0, color.RGBA{255, 0, 0, 255})
	img.Set(1, 1, color.RGBA{0, 0, 255, 255})
	var data, out bytes.Buffer
	if err := png.Encode(&data, img); err != nil {
		t.Fatal(err)
	}
	s := New(&out)
	s.color = true
	s.Event(workspace.Event{Type: workspace.TypeOutput, Output: codeinterp.Output{
		Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "image/png", Data: data.Bytes()}}}})
	want := "\x1b[38;2;255;0;0;48;2;0;0;0m▀\x1b[38;2;0;0;0;48;2;0;0;255m▀\x1b[0m\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %q, want %q at the end", out.String(), want)
	}
	out.Reset()
	s.Event(workspace.Event{Type: workspace.TypeOutput, Output: codeinterp.Output{
		Kind: codeinterp.Stderr, Data: []byte("\x1b[5mno\n")}})
	if want := "\x1b[31mno\x1b[0m\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %q, want %q at the end", out.String(), want)
	}
}
