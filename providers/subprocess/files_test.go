//go:build real && unix

package subprocess_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// openFiles returns the directory of a new context.
func openFiles(t *testing.T, ci codeinterp.StatefulInterpreter, language string, o *codeinterp.ContextOptions) (codeinterp.ContextID, codeinterp.FS) {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), language, o)
	if err != nil {
		t.Fatal(err)
	}
	of, ok := codeinterp.Files(codeinterp.Wrap(ci))
	if !ok {
		t.Fatal("no files")
	}
	dir, err := of.OpenFiles(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return id, dir
}

// TestContextFiles runs the table that every implementation of FS passes: in a
// directory of the context's own, and in one of somebody's.
func TestContextFiles(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		shared := leftover.Dir(t)
		for _, opts := range []*codeinterp.ContextOptions{nil, {Cwd: shared}} {
			id, dir := openFiles(t, ci, "bash", opts)
			filestest.Run(t, dir)
			res, err := ci.RunInContext(t.Context(), id, "cat lines; echo more >> dir/lines; mv dir moved; echo text > new", nil)
			if err != nil || res.Stdout() != string(filestest.Contents()["lines"]) || res.Stderr() != "" {
				t.Errorf("a program finds %q, %q, %v", res.Stdout(), res.Stderr(), err)
			}
			if b, err := fs.ReadFile(dir, "new"); string(b) != "text\n" || err != nil {
				t.Errorf("what a program wrote: %q, %v", b, err)
			}
			if _, err := dir.Stat("moved/lines"); err != nil {
				t.Error(err)
			}
			if err := dir.RemoveAll("moved"); err != nil {
				t.Error(err)
			}
			if err := ci.DeleteContext(t.Context(), id); err != nil {
				t.Error(err)
			}
			if _, err := dir.Stat("new"); !errors.Is(err, codeinterp.ErrContext) {
				t.Errorf("after the end: %v", err)
			}
		}
		if b, err := os.ReadFile(filepath.Join(shared, "new")); string(b) != "text\n" || err != nil {
			t.Errorf("left in a directory of somebody's: %q, %v", b, err)
		}
	})
}

// TestFilesQuota: what does not fit is refused, before a program pays for it.
func TestFilesQuota(t *testing.T) {
	ci := open(t, subprocess.Options{Limits: subprocess.Limits{Disk: 1 << 20, FileSize: 600 << 10}})
	_, dir := openFiles(t, ci, "bash", nil)
	big := func(n int) error {
		f, err := dir.OpenFile("big", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, n))
		return errors.Join(err, f.Close())
	}
	if err := big(700 << 10); !errors.Is(err, codeinterp.ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	if err := big(500 << 10); err != nil {
		t.Error(err)
	}
	if err := codeinterp.WriteFile(dir, "small", bytes.NewReader(make([]byte, 600<<10)), 0o600); !errors.Is(err, codeinterp.ErrQuota) {
		t.Errorf("more than the disk: %v", err)
	}
	src := fstest.MapFS{"a": {Data: make([]byte, 590<<10)}, "b": {Data: make([]byte, 590<<10)}}
	if _, err := ci.RunCode(t.Context(), "bash", "echo no", &codeinterp.RunOptions{Files: src}); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("inputs: %v", err)
	}
}
