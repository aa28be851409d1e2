//go:build unix

package files_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	if l, err := s.List(t.Context(), "d", nil); err != nil || l.More != "" || !slices.Equal(paths(l), want) || p.lists != 2 || p.most != 8192 {
		t.Errorf("List: %d entries in %d parts of up to %d, more %q, %v", len(l.Entries), p.lists, p.most, l.More, err)
	}
	if l, err := s.List(t.Context(), "d", &files.ListOptions{Limit: 2}); err != nil || l.More != "entries" || !slices.Equal(paths(l), want[:2]) || p.lists != 3 {
		t.Errorf("List of two: %v in %d parts, more %q, %v", paths(l), p.lists-2, l.More, err)
	}
	p.lists, p.most = 0, 0
	if l, err := s.Glob(t.Context(), ".", "*99", nil); err != nil || len(l.Entries) != 90 || p.lists != 3 || p.most != 8192 {
		t.Errorf("Glob: %d entries in %d parts of up to %d, %v", len(l.Entries), p.lists, p.most, err)
	}
	if _, err := s.Read(t.Context(), "d", files.Range{}); err == nil {
		t.Error("a directory is read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.List(ctx, "d", nil); err == nil {
		t.Error("listed for a caller that has gone")
	}
}

// TestPagesBelow: a directory is listed in as few parts however deep it is.
func TestPagesBelow(t *testing.T) {
	dir := t.TempDir()
	root, err := files.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	deep := filepath.Join(dir, "1", "2", "3", "4", "5", "6", "7")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 1500 {
		if err := os.WriteFile(filepath.Join(deep, fmt.Sprintf("%05d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := &paged{Dir: root, t: t}
	if l, err := files.New(p, nil).Glob(t.Context(), ".", "*99", nil); err != nil || len(l.Entries) != 15 || p.lists != 7+1 {
		t.Errorf("%d entries in %d parts, more %q, %v", len(l.Entries), p.lists, l.More, err)
	}
}

// An endless directory has as many directories as are asked for, each one endless.
type endless struct {
	files.Dir
	held map[int]int // by depth
	most int
}

func (e *endless) Lstat(name string) (fs.FileInfo, error) { return endlessInfo(path.Base(name)), nil }

func (e *endless) ReadDirAfter(_ context.Context, name, after string, most int) ([]fs.DirEntry, string, error) {
	depth, sum := 0, 0
	if name != "." {
		depth = 1 + strings.Count(name, "/")
	}
	e.held[depth] = most
	for d, n := range e.held {
		if d <= depth {
			sum += n
		}
	}
	e.most = max(e.most, sum)
	list := make([]fs.DirEntry, most)
	for i := range list {
		list[i] = fs.FileInfoToDirEntry(endlessInfo(fmt.Sprintf("%s%05d", after, i)))
	}
	return list, list[most-1].Name(), nil
}

type endlessInfo string

func (e endlessInfo) Name() string     { return string(e) }
func (endlessInfo) Size() int64        { return 0 }
func (endlessInfo) Mode() fs.FileMode  { return fs.ModeDir | 0o755 }
func (endlessInfo) ModTime() time.Time { return time.Time{} }
func (endlessInfo) IsDir() bool        { return true }
func (endlessInfo) Sys() any           { return nil }

// TestPagesHeld: the levels of a walk together hold little.
func TestPagesHeld(t *testing.T) {
	e := &endless{held: map[int]int{}}
	l, err := files.New(e, nil).List(t.Context(), ".", &files.ListOptions{Depth: 100, Limit: 110})
	if err != nil || len(l.Entries) != 110 || len(e.held) != 100 || e.most > 4*8192+100*1024 {
		t.Errorf("%d entries, up to %d held by %d levels, %v", len(l.Entries), e.most, len(e.held), err)
	}
}
