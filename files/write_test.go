//go:build unix

package files_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
)

func TestWrite(t *testing.T) {
	s, dir := newService(t, nil, nil)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, tt := range []struct {
		data []byte
		o    *files.WriteOptions
		want string
		err  error
	}{
		{all, nil, string(all), nil},
		{[]byte("x"), &files.WriteOptions{Append: true}, string(all) + "x", nil},
		{nil, nil, "", nil},
		{[]byte("ab"), &files.WriteOptions{Append: true}, "ab", nil},
	} {
		err := s.Write(t.Context(), "a/b/f", tt.data, tt.o)
		got, _ := os.ReadFile(filepath.Join(dir, "a/b/f"))
		if !errors.Is(err, tt.err) || string(got) != tt.want {
			t.Errorf("%+v: %d bytes, %v", tt.o, len(got), err)
		}
	}
	if err := s.Write(t.Context(), ".", nil, nil); err == nil {
		t.Error("the directory itself was written")
	}
}

func TestEdit(t *testing.T) {
	for _, tt := range []struct {
		name, text, old, replacement string
		all                          bool
		n                            int
		want                         string
		fault                        string
	}{
		{"once", "a b c", "b", "x", false, 1, "a x c", ""},
		{"twice", "b b", "b", "x", false, 0, "b b", "2 times"},
		{"all", "b b", "b", "xx", true, 2, "xx xx", ""},
		{"not there", "a", "b", "x", false, 0, "a", "not in the file"},
		{"not there at all", "a", "b", "x", true, 0, "a", "not in the file"},
		{"empty", "a", "", "x", false, 0, "a", "empty"},
		{"the same", "a", "a", "a", false, 0, "a", "the same"},
		{"bytes", "\xff\r\n\x00", "\r\n", "\n", false, 1, "\xff\n\x00", ""},
		{"away", "abc", "b", "", false, 1, "ac", ""},
		{"too large", "a", "a", strings.Repeat("x", 200), false, 0, "a", "too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := newService(t, &files.Options{MaxEdit: 100}, map[string]string{"f": tt.text})
			n, err := s.Edit(t.Context(), "f", tt.old, tt.replacement, &files.EditOptions{All: tt.all})
			got, _ := os.ReadFile(filepath.Join(dir, "f"))
			if n != tt.n || string(got) != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%d, %q, %v", n, got, err)
			}
		})
	}
}

// TestEditsTakeTurns: edits of one file at once are all in it.
func TestEditsTakeTurns(t *testing.T) {
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "<%d>\n", i)
	}
	s, _ := newService(t, nil, map[string]string{"f": text.String()})
	other := s.With(nil)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			by := s
			if i%2 == 0 {
				by = other
			}
			if _, err := by.Edit(t.Context(), "f", fmt.Sprintf("<%d>", i), "x", nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if page, err := s.Read(t.Context(), "f", files.Range{}); err != nil || page.Text != strings.Repeat("x\n", 50) {
		t.Errorf("%q, %v", page.Text, err)
	}
}

// fullFS has no room for files of more than 10 bytes.
type fullFS struct{ files.Dir }

type fullFile struct {
	codeinterp.File
	room int
}

func (f fullFS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	file, err := f.Dir.OpenFile(name, flag, perm)
	return &fullFile{file, 10}, err
}

func (f *fullFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:min(len(p), f.room)])
	if f.room -= n; err == nil && n < len(p) {
		err = codeinterp.ErrQuota
	}
	return n, err
}

// TestEditWithoutRoom: an edit that does not fit leaves the file as it was.
func TestEditWithoutRoom(t *testing.T) {
	root, err := files.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := files.New(fullFS{root}, nil)
	if err := s.Write(t.Context(), "f", []byte("123456789"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Edit(t.Context(), "f", "5", "five", nil); !errors.Is(err, codeinterp.ErrQuota) {
		t.Errorf("got %v", err)
	}
	if page, err := s.Read(t.Context(), "f", files.Range{}); err != nil || page.Text != "123456789" {
		t.Errorf("%q, %v", page.Text, err)
	}
}

// closedFS opens no file to be written.
type closedFS struct{ files.Dir }

func (c closedFS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	if flag != os.O_RDONLY {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.Dir.OpenFile(name, flag, perm)
}

// TestEditUnopened: a file that could not be opened is as it was, and nothing else is said of it.
func TestEditUnopened(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "f"), []byte("123"), 0o644)
	root, err := files.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = files.New(closedFS{root}, nil).Edit(t.Context(), "f", "2", "two", nil)
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
}

func TestMoveAndRemove(t *testing.T) {
	s, dir := newService(t, &files.Options{Dir: "/workspace"}, map[string]string{"a": "A", "d/x": "X", "d/y": "Y"})
	os.Symlink("/etc", filepath.Join(dir, "out"))
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"move", s.Move(ctx, "a", "/workspace/new/b"), nil},
		{"move what is gone", s.Move(ctx, "a", "c"), fs.ErrNotExist},
		{"move out", s.Move(ctx, "new/b", "../b"), codeinterp.ErrOutside},
		{"remove a full directory", s.Remove(ctx, "d", nil), errAny},
		{"remove a tree", s.Remove(ctx, "d", &files.RemoveOptions{Recursive: true}), nil},
		{"remove what is gone", s.Remove(ctx, "d", &files.RemoveOptions{Recursive: true}), fs.ErrNotExist},
		{"remove a file", s.Remove(ctx, "new/b", nil), nil},
		{"remove a link", s.Remove(ctx, "out", &files.RemoveOptions{Recursive: true}), nil},
		{"remove outside", s.Remove(ctx, "/etc/passwd", &files.RemoveOptions{Recursive: true}), codeinterp.ErrOutside},
		{"make a directory", s.Mkdir(ctx, "p/q"), nil},
		{"make it again", s.Mkdir(ctx, "p/q"), nil},
	} {
		if tt.want == errAny && tt.err != nil {
			continue
		}
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.err, tt.want)
		}
	}
	if _, err := os.Stat("/etc/passwd"); err != nil {
		t.Error(err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Remove(canceled, "p", &files.RemoveOptions{Recursive: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

var errAny = errors.New("any error")
