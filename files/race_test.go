//go:build unix

package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/files"
)

// TestSwappedDirectories works on files while their directory is swapped for a
// link to one outside, again and again: nothing outside is read, found, changed
// or made.
func TestSwappedDirectories(t *testing.T) {
	s, dir := newService(t, nil, map[string]string{"d/f": "inside\n", "d/sub/g": "inside\n"})
	outside := t.TempDir()
	for _, name := range []string{"f", "sub/g", "only-outside"} {
		os.MkdirAll(filepath.Join(outside, filepath.Dir(name)), 0o755)
		if err := os.WriteFile(filepath.Join(outside, name), []byte("outside\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stop, swapped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapped)
		d, aside, link := filepath.Join(dir, "d"), filepath.Join(dir, "aside"), filepath.Join(dir, "link")
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Symlink(outside, link)
			os.Rename(d, aside)
			os.Rename(link, d)
			os.Remove(d)
			os.Rename(aside, d)
		}
	}()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				work(t, s, fmt.Sprintf("%d-%d", w, i))
			}
		})
	}
	wg.Wait()
	close(stop)
	<-swapped
	var left []string
	filepath.WalkDir(outside, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(p)
			left = append(left, strings.TrimPrefix(p, outside)+" "+string(text))
		}
		return nil
	})
	if got, want := strings.Join(left, ""), "/f outside\n/only-outside outside\n/sub/g outside\n"; got != want {
		t.Errorf("outside there is now %q", got)
	}
}

// work does six operations, of which each may fail, but none may get outside.
func work(t *testing.T, s *files.Workdir, id string) {
	ctx := t.Context()
	if page, err := s.Read(ctx, "d/f", files.Range{}); err == nil && strings.Contains(page.Text, "outside") {
		t.Error("a file outside was read")
	}
	s.Write(ctx, "d/new-"+id, []byte("written\n"), nil)
	s.Edit(ctx, "d/sub/g", "outside", "changed", nil)
	if l, err := s.List(ctx, ".", &files.ListOptions{Depth: 3}); err == nil {
		for _, e := range l.Entries {
			if strings.Contains(e.Path, "only-outside") {
				t.Error("a directory outside was listed")
			}
		}
	}
	if m, err := s.Grep(ctx, ".", "outside", nil); err == nil && len(m.Matches) > 0 {
		t.Errorf("a file outside was searched: %+v", m.Matches[0])
	}
	s.Remove(ctx, "d/new-"+id, &files.RemoveOptions{Recursive: true})
}
