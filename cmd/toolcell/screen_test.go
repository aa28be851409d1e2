package main

import (
	"bytes"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestValuesOfFiles: a program of a file shows what it shows, and a last expression
// only where that is an image.
func TestValuesOfFiles(t *testing.T) {
	text := codeinterp.Representation{MIME: "text/plain", Data: []byte("<Figure>")}
	image := codeinterp.Representation{MIME: "image/png", Data: []byte("no image")}
	for _, tt := range []struct {
		name  string
		out   codeinterp.Output
		shown bool
	}{
		{"text", codeinterp.Output{Kind: codeinterp.Value, Bundle: []codeinterp.Representation{text}}, false},
		{"JSON", codeinterp.Output{Kind: codeinterp.Value, Value: []byte("1")}, false},
		{"an image", codeinterp.Output{Kind: codeinterp.Value, Bundle: []codeinterp.Representation{text, image}}, true},
		{"text that is displayed", codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{text}}, true},
	} {
		var all bytes.Buffer
		a := &app{stdout: &all, stderr: &all}
		s := newScreen(a, imageShower{none: true})
		s.file = true
		if err := s.live(tt.out); err != nil || all.Len() > 0 != tt.shown {
			t.Errorf("%s: %q, %v", tt.name, all.String(), err)
		}
	}
}
