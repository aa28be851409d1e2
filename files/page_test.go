package files_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcell/toolcell/files"
)

// A paged directory counts what is held of it, and cannot be listed as a whole.
type paged struct {
	files.Dir
	t     *testing.T
	lists int
	most  int
}

func (p *paged) Open(name string) (fs.File, error) {
	p.t.Errorf("%s is opened, for which a directory is listed", name)
	return nil, fs.ErrInvalid
}

func (p *paged) ReadDir(name string) ([]fs.DirEntry, error) {
	p.t.Errorf("all of %s is listed", name)
	return nil, fs.ErrInvalid
}

func (p *paged) ReadDirAfter(ctx context.Context, name, after string, most int) ([]fs.DirEntry, string, error) {
	list, last, err := p.Dir.(interface {
		ReadDirAfter(ctx context.Context, name, after string, most int) ([]fs.DirEntry, string, error)
	}).ReadDirAfter(ctx, name, after, most)
	p.lists, p.most = p.lists+1, max(p.most, len(list))
	return list, last, err
}

// TestPages: a large directory is listed, searched and gone through in parts, and
// nothing of it is missed.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	root, err := files.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	p := &paged{Dir: root, t: t}
	s := files.New(p, &files.Options{MaxEntries: 20_000})
	var want []string
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 9000 {
		name := fmt.Sprintf("d/%05d", i)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	if l, err := s.List(t.Context(), "d", 1, 0); err != nil || l.More != "" || !slices.Equal(paths(l), want) || p.lists != 2 || p.most != 8192 {
		t.Errorf("List: %d entries in %d parts of up to %d, more %q, %v", len(l.Entries), p.lists, p.most, l.More, err)
	}
	if l, err := s.List(t.Context(), "d", 1, 2); err != nil || l.More != "entries" || !slices.Equal(paths(l), want[:2]) || p.lists != 3 {
		t.Errorf("List of two: %v in %d parts, more %q, %v", paths(l), p.lists-2, l.More, err)
	}
	p.lists, p.most = 0, 0
	if l, err := s.Glob(t.Context(), ".", "*99", 0); err != nil || len(l.Entries) != 90 || p.lists != 4 || p.most != 4096 {
		t.Errorf("Glob: %d entries in %d parts of up to %d, %v", len(l.Entries), p.lists, p.most, err)
	}
	if _, err := s.Read(t.Context(), "d", files.Range{}); err == nil {
		t.Error("a directory is read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.List(ctx, "d", 1, 0); err == nil {
		t.Error("listed for a caller that has gone")
	}
}
