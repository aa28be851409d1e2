//go:build unix

package driver_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/rootfs"
)

// A cabinet is a Runtime whose sessions have files; a program is the name of a
// file to print and to append to.
type cabinet struct{ base string }

func (cabinet) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "cabinet", Languages: []codeinterp.LanguageInfo{{Name: "name", Contexts: true}}}
}
func (cabinet) Close(context.Context) error { return nil }

func (c cabinet) Start(_ context.Context, o driver.Options) (driver.Session, error) {
	dir, err := os.MkdirTemp(c.base, "")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &drawer{dir, rootfs.New(root, &rootfs.Options{MaxFile: 1000})}, err
}

func (cabinet) Files(s driver.Session) (codeinterp.FS, error) { return s.(*drawer).files, nil }

type drawer struct {
	dir   string
	files *rootfs.FS
}

func (d *drawer) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	if err := p.CopyFiles(ctx, d.files); err != nil {
		return driver.Outcome{}, err
	}
	p.Begin()
	b, _ := fs.ReadFile(d.files, p.Code)
	out.Write(codeinterp.Stdout, b)
	_ = os.WriteFile(filepath.Join(d.dir, p.Code), append(b, '!'), 0o600)
	var o driver.Outcome
	if p.Artifacts {
		p.End()
		o.Artifacts = []codeinterp.Artifact{{Path: p.Code}}
	}
	return o, nil
}
func (*drawer) Interrupt(context.Context) error { return nil }
func (*drawer) Reset(context.Context) error     { return nil }
func (d *drawer) Close(context.Context) error {
	return errors.Join(d.files.Close(), os.RemoveAll(d.dir))
}

func openCabinet(t *testing.T) (*driver.Stateful, codeinterp.ContextFiles, string) {
	t.Helper()
	base := t.TempDir()
	ci := driver.NewStateful(cabinet{base}, driver.Config{})
	t.Cleanup(func() { ci.Close() })
	files, ok := codeinterp.Files(codeinterp.Wrap(ci))
	if !ok || !ci.Describe().HasFiles("") {
		t.Fatal("no files")
	}
	return ci, files, base
}

// ownRoot lists an entry that is the root again.
type ownRoot struct{ fstest.MapFS }

func (f ownRoot) ReadDir(string) ([]fs.DirEntry, error) {
	info, err := f.Stat(".")
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, err
}

// TestInputFaults: each fault of a source is an error that says what it is.
func TestInputFaults(t *testing.T) {
	ci, _, base := openCabinet(t)
	ctx := t.Context()
	many := fstest.MapFS{}
	for i := range codeinterp.MaxInputFiles + 1 {
		many["d"+strings.Repeat("x", i%200)+"/"+string(rune('a'+i%26))+strings.Repeat("y", i/200)] = &fstest.MapFile{}
	}
	for _, tt := range []struct {
		name  string
		src   fs.FS
		wants []error
	}{
		{"a link", fstest.MapFS{"a": {Mode: fs.ModeSymlink, Data: []byte("/etc/passwd")}}, []error{codeinterp.ErrInvalid, codeinterp.ErrSpecial}},
		{"too many", many, []error{codeinterp.ErrInvalid, codeinterp.ErrTooLarge}},
		{"too large", fstest.MapFS{"a": {Data: []byte("new")}, "b": {Data: make([]byte, 2000)}}, []error{codeinterp.ErrInvalid, codeinterp.ErrTooLarge}},
		{"a directory in the way", fstest.MapFS{"a": {Data: []byte("new")}, "dir": {Data: []byte("file")}}, []error{codeinterp.ErrInvalid, codeinterp.ErrIsDir}},
		{"a file in the way", fstest.MapFS{"0": {Data: []byte("new")}, "a/b": {Data: []byte("new")}}, []error{codeinterp.ErrInvalid, codeinterp.ErrNotDir}},
		{"a directory that is not there", os.DirFS(base + "/none"), []error{codeinterp.ErrInvalid, fs.ErrNotExist}},
		{"a root in itself", ownRoot{}, []error{codeinterp.ErrInvalid, fs.ErrInvalid}},
		{"a name that is not UTF-8", fstest.MapFS{"bad\xff\x1b[31m": {}}, []error{codeinterp.ErrInvalid, fs.ErrInvalid}},
		{"a panic", panicFS{}, []error{codeinterp.ErrInvalid}},
	} {
		id, err := ci.CreateContext(ctx, "name", &codeinterp.ContextOptions{Files: fstest.MapFS{"a": {Data: []byte("old")}, "dir/x": {}}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := ci.RunInContext(ctx, id, "a", &codeinterp.RunOptions{Files: tt.src})
		for _, want := range tt.wants {
			if !errors.Is(err, want) || res.Status != codeinterp.StatusNotRun {
				t.Errorf("%s: %v, %v, want %v", tt.name, res.Status, err, want)
			}
		}
		if err != nil && (strings.Contains(err.Error(), "\x1b") || !utf8.ValidString(err.Error())) {
			t.Errorf("%s: %q would do something to a terminal", tt.name, err)
		}
		if err != nil && strings.Contains(err.Error(), base) {
			t.Errorf("%s: a path of the host's in %v", tt.name, err)
		}
		if err := ci.DeleteContext(ctx, id); err != nil {
			t.Fatal(err)
		}
		if tt.name == "a directory in the way" || tt.name == "a file in the way" {
			continue // not in an empty one
		}
		if _, err := ci.CreateContext(ctx, "name", &codeinterp.ContextOptions{Files: tt.src}); !errors.Is(err, tt.wants[0]) {
			t.Errorf("%s: create: %v", tt.name, err)
		}
		if left, _ := os.ReadDir(base); len(left) != 0 {
			t.Errorf("%s: %d directories are left", tt.name, len(left))
		}
	}
}

// TestFilesIdle: a context whose files are used is not idle, and is deleted once
// they are not any more.
func TestFilesIdle(t *testing.T) {
	base := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ci := driver.NewStateful(cabinet{base}, driver.Config{Idle: time.Hour})
		defer ci.Close()
		id, err := ci.CreateContext(t.Context(), "name", nil)
		if err != nil {
			t.Fatal(err)
		}
		of, _ := codeinterp.Files(ci)
		dir, err := of.OpenFiles(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(50 * time.Minute)
			synctest.Wait()
			if _, err := dir.Stat("."); err != nil {
				t.Fatalf("in use: %v", err)
			}
		}
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if list, err := ci.ListContexts(t.Context()); len(list) != 1 || err != nil {
			t.Errorf("before its time: %v, %v", list, err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if list, err := ci.ListContexts(t.Context()); len(list) != 0 || err != nil {
			t.Errorf("after its time: %v, %v", list, err)
		}
		if _, err := dir.Stat("."); !errors.Is(err, codeinterp.ErrContext) {
			t.Errorf("after its time: %v", err)
		}
	})
}

type panicFS struct{}

func (panicFS) Open(string) (fs.File, error) { panic("no") }
