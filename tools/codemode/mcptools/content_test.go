package mcptools

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

// TestManyFiles: a hundred thousand files in an answer are counted, not named: to add
// the name of each to the text took minutes.
func TestManyFiles(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	files := make([]codemode.File, 120_000)
	for i := range files {
		files[i].MIME = strings.Repeat("x", 100)
	}
	files = append(files, codemode.File{MIME: "image/png", Data: b.Bytes()})
	a := &tools.Answer{Text: "text"}
	show(a, files)
	if len(a.Images) != 1 || len(a.Text) > 8<<10 || !strings.HasPrefix(a.Text, "text\n[xx") || !strings.HasSuffix(a.Text, "\n[image 1]\n[119980 more files, not shown]") {
		t.Errorf("%d images, %d bytes: %.100q", len(a.Images), len(a.Text), a.Text)
	}
}
