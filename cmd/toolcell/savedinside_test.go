package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/notebook"
)

// planted is a directory that programs may write, with links that one left there
// to a file and to the directory it is in.
func planted(t *testing.T) (f *programFlags, dir, outside, file string) {
	t.Helper()
	dir, outside = t.TempDir(), t.TempDir()
	file = filepath.Join(outside, "output-1.html")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"output-1.html": file, "history": file, "out": outside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	f = &programFlags{}
	f.write = []string{dir}
	return f, dir, outside, file
}

// TestSavedInside: what the command saves goes through no link of a program's out of
// the directory.
func TestSavedInside(t *testing.T) {
	f, dir, outside, file := planted(t)
	show := func(images string) (*screen, error) {
		f.images = images
		a := &app{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
		s := newScreen(a, newImageShower(a, f))
		return s, s.show(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "text/html", Data: []byte("theirs")}}})
	}
	if _, err := show(dir); err != nil || contents(t, dir)["output-1.html"] != "theirs" {
		t.Errorf("%v, %q", err, contents(t, dir))
	}
	if _, err := show(filepath.Join(dir, "out", "deep")); err == nil {
		t.Error("a picture was saved through a link")
	}
	if _, err := show(filepath.Join(dir, "new", "deep")); err != nil || contents(t, filepath.Join(dir, "new"))["deep/output-1.html"] != "theirs" {
		t.Errorf("%v", err)
	}
	if err := new(app).writeNotebook(f, filepath.Join(dir, "out", "a.ipynb"), &notebook.Notebook{}); err == nil {
		t.Error("a notebook was saved through a link")
	}
	if err := new(app).writeNotebook(f, filepath.Join(dir, "a.ipynb"), &notebook.Notebook{}); err != nil {
		t.Error(err)
	}
	// Links of the user's own lead to where programs may write, and on.
	mine := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "sub"), 0o777), os.Symlink(outside, filepath.Join(dir, "sub", "out")),
		os.Symlink(filepath.Join(dir, "sub"), filepath.Join(mine, "abs")), os.Symlink("abs", filepath.Join(mine, "again")),
		os.Symlink(filepath.Join("..", filepath.Base(mine), "again", "out"), filepath.Join(mine, "far")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range []string{"abs/out", "again/out", "far", "again/out/deep"} {
		if _, err := show(filepath.Join(mine, way)); err == nil {
			t.Errorf("%s: a picture was saved through a link", way)
		}
	}
	if _, err := show(filepath.Join(mine, "again", "new")); err != nil || contents(t, filepath.Join(dir, "sub", "new"))["output-1.html"] != "theirs" {
		t.Errorf("%v", err)
	}
	if _, err := new(fileFlags).openFiles(f, "--out", filepath.Join(dir, "out")); err == nil {
		t.Error("--out went through a link")
	}
	typed := editor{Editor: &terminal.Editor{History: []string{"typed"}}, file: filepath.Join(dir, "history"), writable: f.write}
	if err := typed.close(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" || len(contents(t, outside)) != 1 {
		t.Errorf("%v, %q, %q", err, b, contents(t, outside))
	}
}
