package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

func testPNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func testScreen(stdout, stderr io.Writer, images string) *screen {
	a := &app{stdout: stdout, stderr: stderr}
	return newScreen(a, newImageShower(a, &programFlags{images: images}))
}

func TestInlineImages(t *testing.T) {
	rep := codeinterp.Representation{MIME: "image/png", Data: testPNG(t)}
	for protocol, start := range map[string]string{"kitty": "\x1b_G", "iterm2": "\x1b]1337;File="} {
		var out, errs bytes.Buffer
		s := testScreen(&out, &errs, protocol)
		if err := s.show(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{rep}}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), start) || errs.Len() > 0 {
			t.Errorf("%s: %.20q, %q", protocol, out.String(), errs.String())
		}
	}
}

// TestLargeInline: a picture that takes gigabytes in the terminal is saved with a reason.
func TestLargeInline(t *testing.T) {
	var b, out, errs bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, 5000, 5000), color.Palette{color.White})); err != nil {
		t.Fatal(err)
	}
	s := testScreen(&out, &errs, "kitty")
	s.images.dir = t.TempDir()
	err := s.show(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "image/png", Data: b.Bytes()}}})
	if err != nil || out.Len() > 0 || !strings.HasSuffix(errs.String(), ", not shown: 5000 by 5000 pixels\n") {
		t.Errorf("%v, %.40q, %q", err, out.String(), errs.String())
	}
}

// TestMIMEInTerminal: a type's name cannot speak to the terminal.
func TestMIMEInTerminal(t *testing.T) {
	for _, images := range []string{"kitty", "none"} {
		var out, errs bytes.Buffer
		s := testScreen(&out, &errs, images)
		s.images.dir = t.TempDir()
		if err := s.show(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "image/png;x=\x1b]0;owned\a", Data: []byte("x")}}}); err != nil {
			t.Fatal(err)
		}
		if said := out.String() + errs.String(); strings.ContainsAny(said, "\x1b\a") || !strings.Contains(said, "owned") {
			t.Errorf("%s: %q", images, said)
		}
	}
}

func TestImagesAreSaved(t *testing.T) {
	dir := t.TempDir() + "/of/plots"
	var out, errs bytes.Buffer
	s := testScreen(&out, &errs, dir)
	data := testPNG(t)
	for _, rep := range []codeinterp.Representation{{MIME: "image/png", Data: data}, {MIME: "text/html", Data: []byte("<b>")}} {
		if err := s.show(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{rep}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(dir + "/output-1.png")
	if err != nil || !bytes.Equal(got, data) {
		t.Error(err)
	}
	if _, err := os.Stat(dir + "/output-2.html"); err != nil || !strings.Contains(errs.String(), "output-2.html") || out.Len() > 0 {
		t.Errorf("%v, stdout %q, stderr %q", err, out.String(), errs.String())
	}
}

func TestBrokenImageIsSavedNotLost(t *testing.T) {
	var out, errs bytes.Buffer
	s := testScreen(&out, &errs, "kitty")
	s.images.dir = t.TempDir()
	err := s.show(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "image/png", Data: []byte("no image")}}})
	if err != nil || !strings.Contains(errs.String(), "saved as") {
		t.Errorf("%v, %q", err, errs.String())
	}
}
