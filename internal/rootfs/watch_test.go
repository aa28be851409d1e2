//go:build unix

package rootfs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/internal/rootfs"
)

// paths are those of what changed since before.
func paths(t *testing.T, f *rootfs.FS, before *rootfs.Snapshot) string {
	t.Helper()
	found, missing := f.Artifacts(t.Context(), before, false)
	var all []string
	for _, a := range found {
		all = append(all, a.Path)
	}
	return fmt.Sprint(strings.Join(all, " "), missing)
}

// TestWatchedUsers finds what changes in watched directories, of the host's user
// and of another one.
func TestWatchedUsers(t *testing.T) {
	for name, u := range users(t) {
		watches := rootfs.NewWatches()
		f, dir := open(t, u, rootfs.Options{Watches: watches})
		write := func(name, text string) {
			_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
			if u != nil {
				_ = os.Lchown(filepath.Join(dir, name), u.UID, u.GID)
			}
		}
		for n, want := range []string{"a[]", "[]", "b c/d[]", "[]", "a c/d[]"} {
			before := f.Snapshot(t.Context())
			switch n {
			case 0:
				write("a", "1")
			case 2:
				write("b", "1")
				_ = f.MkdirAll("c", 0o700)
				write("c/d", "1")
			case 3:
				_, _ = f.Stat("c/d")
			case 4:
				write("c/d", "2")
				write("a", "2")
			}
			if got := paths(t, f, before); got != want {
				t.Errorf("%s, run %d: found %q, want %q", name, n, got, want)
			}
		}
		if err := watches.Close(); err != nil {
			t.Error(err)
		}
		before := f.Snapshot(t.Context())
		write("a", "3")
		if got := paths(t, f, before); got != "a[]" {
			t.Errorf("%s, no longer watched: found %q", name, got)
		}
	}
}

// TestWatchedStorm has more events than anybody reads, and more directories than
// are watched.
func TestWatchedStorm(t *testing.T) {
	watches := rootfs.NewWatches()
	defer watches.Close()
	f, dir := open(t, nil, rootfs.Options{Watches: watches})
	other, dir2 := open(t, nil, rootfs.Options{Watches: watches})
	for _, d := range []string{dir, dir2} {
		for i := range 100 {
			_ = os.WriteFile(filepath.Join(d, "old"+strconv.Itoa(i)), nil, 0o644)
		}
	}
	storm := func() {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		_ = os.WriteFile(a, nil, 0o644)
		for range 30_000 {
			_ = os.Rename(a, b)
			_ = os.Rename(b, a)
		}
		_ = os.Remove(a)
	}
	many := func() {
		for i := range 20_000 {
			_ = os.Mkdir(filepath.Join(dir, "d"+strconv.Itoa(i)), 0o755)
		}
	}
	for n, trouble := range []func(){storm, many, func() {}} {
		before, before2 := f.Snapshot(t.Context()), other.Snapshot(t.Context())
		trouble()
		_ = os.WriteFile(filepath.Join(dir, "old7"), []byte("x"), 0o644)
		_ = os.WriteFile(filepath.Join(dir2, "old8"), []byte("x"), 0o644)
		if got := paths(t, f, before); got != "old7[]" {
			t.Errorf("%d: found %q", n, got)
		}
		if got := paths(t, other, before2); got != "old8[]" {
			t.Errorf("%d: found %q beside it", n, got)
		}
	}
}

// TestWatchedShared has several FSs of one directory, as contexts that share it,
// and a directory that goes.
func TestWatchedShared(t *testing.T) {
	watches := rootfs.NewWatches()
	defer watches.Close()
	first, dir := open(t, nil, rootfs.Options{Watches: watches, Stay: true})
	_ = os.Mkdir(filepath.Join(dir, "d"), 0o755)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Error(err)
				return
			}
			f := rootfs.New(root, &rootfs.Options{Watches: watches})
			defer f.Close()
			for n := range 20 {
				before := f.Snapshot(t.Context())
				name := fmt.Sprintf("d/%d", i)
				_ = os.WriteFile(filepath.Join(dir, name), []byte(strconv.Itoa(n)), 0o644)
				if found, _ := f.Artifacts(t.Context(), before, false); !strings.Contains(fmt.Sprint(found), "{"+name+" ") {
					t.Errorf("%s is not among %v", name, found)
				}
			}
		})
	}
	wg.Wait()
	before := first.Snapshot(t.Context())
	_ = os.WriteFile(filepath.Join(dir, "d", "x"), nil, 0o644)
	if got := paths(t, first, before); got != "d/x[]" {
		t.Errorf("found %q", got)
	}
	before = first.Snapshot(t.Context())
	_ = os.RemoveAll(dir)
	if found, _ := first.Artifacts(t.Context(), before, false); len(found) != 0 {
		t.Errorf("found %v in a directory that is gone", found)
	}
}

// TestWatchedLinks shows what package subprocess says of hard links that lead
// outside: what is written by one is found, unless that is all that a run does to
// the file and the link came while nothing else was done to it.
func TestWatchedLinks(t *testing.T) {
	watches := rootfs.NewWatches()
	defer watches.Close()
	f, dir := open(t, nil, rootfs.Options{Watches: watches})
	outside := t.TempDir()
	write := func(dir, name, text string) { _ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	link := func(name string) {
		if err := os.Link(filepath.Join(dir, name), filepath.Join(outside, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"early", "late", "quiet"} {
		write(dir, name, "1")
	}
	link("early")
	f.Snapshot(t.Context())
	link("quiet")
	check := func(name, want string) {
		before := f.Snapshot(t.Context())
		write(outside, name, "3")
		if got := paths(t, f, before); got != want {
			t.Errorf("%s: found %q", name, got)
		}
	}
	check("quiet", "[]")
	check("early", "early[]")
	write(dir, "late", "2")
	link("late")
	check("late", "late[]")
	check("quiet", "quiet[]") // looking for late's names has told of it
}

// TestWatchedExchange has files and directories exchange their names.
func TestWatchedExchange(t *testing.T) {
	watches := rootfs.NewWatches()
	defer watches.Close()
	f, dir := open(t, nil, rootfs.Options{Watches: watches})
	for _, name := range []string{"a", "b", "d/x", "e/y", "s/t/z"} {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f.Snapshot(t.Context())
	for _, tt := range []struct{ a, b, want string }{
		{"a", "b", "a b[]"},
		{"a", "d/x", "a d/x[]"},
		{"d", "e", "d/y e/x[]"},
		{"b", "s", "b/t/z s[]"},
		{"a", "b/t", "a/z b/t[]"},
	} {
		before := f.Snapshot(t.Context())
		if err := exchange(filepath.Join(dir, tt.a), filepath.Join(dir, tt.b)); errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		if got := paths(t, f, before); got != tt.want {
			t.Errorf("%s and %s: %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}
