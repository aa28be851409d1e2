//go:build unix

package rootfs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/rootfs"
)

// TestArtifactsOfChanges: README, what a run created, changed or renamed is listed, and
// nothing else.
func TestArtifactsOfChanges(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(path func(string) string) error
		want   string
	}{
		{"nothing", func(func(string) string) error { return nil }, ""},
		{"read", func(path func(string) string) error { _, err := os.ReadFile(path("old")); return err }, ""},
		{"created", func(path func(string) string) error { return os.WriteFile(path("dir/new"), nil, 0o644) }, "dir/new"},
		{"same size and time", func(path func(string) string) error {
			info, err := os.Stat(path("old"))
			if err == nil {
				err = os.WriteFile(path("old"), []byte("B"), 0o644)
			}
			if err == nil {
				err = os.Chtimes(path("old"), info.ModTime(), info.ModTime())
			}
			return err
		}, "old"},
		{"renamed", func(path func(string) string) error { return os.Rename(path("old"), path("moved")) }, "moved"},
		{"directory renamed", func(path func(string) string) error { return os.Rename(path("dir"), path("other")) }, "other/file"},
		{"linked", func(path func(string) string) error { return os.Link(path("old"), path("link")) }, "link old"},
		{"removed", func(path func(string) string) error { return os.Remove(path("old")) }, ""},
		{"replaced", func(path func(string) string) error {
			if err := os.WriteFile(path("tmp"), []byte("A"), 0o644); err != nil {
				return err
			}
			return os.Rename(path("tmp"), path("old"))
		}, "old"},
		{"caches", func(path func(string) string) error {
			for _, dir := range []string{".git", "dir/node_modules/x", ".venv/lib", "dir/__pycache__", ".cache"} {
				if err := os.MkdirAll(path(dir), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(path(dir+"/file"), nil, 0o644); err != nil {
					return err
				}
			}
			return os.WriteFile(path(".gitignore"), nil, 0o644)
		}, ".gitignore"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, dir := open(t, nil, rootfs.Options{})
			path := func(name string) string { return filepath.Join(dir, name) }
			if err := os.Mkdir(path("dir"), 0o755); err != nil {
				t.Fatal(err)
			}
			_ = os.WriteFile(path("old"), []byte("A"), 0o644)
			_ = os.WriteFile(path("dir/file"), []byte("C"), 0o644)
			before := f.Snapshot(t.Context())
			if err := tt.change(path); err != nil {
				t.Fatal(err)
			}
			found, missing := f.Artifacts(t.Context(), before, false)
			var got []string
			for _, a := range found {
				got = append(got, a.Path)
			}
			if s := strings.Join(got, " "); s != tt.want || missing != nil {
				t.Errorf("found %q, want %q; missing %v", s, tt.want, missing)
			}
		})
	}
}

// TestArtifactsBound: a scan reads 50,000 files and reports that it left out the rest.
func TestArtifactsBound(t *testing.T) {
	f, dir := open(t, nil, rootfs.Options{})
	before := f.Snapshot(t.Context())
	file := filepath.Join(dir, "0")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 50_001 {
		sub := filepath.Join(dir, fmt.Sprint("d", i/1000))
		if i%1000 == 0 {
			_ = os.Mkdir(sub, 0o755)
		}
		if err := os.Link(file, filepath.Join(sub, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if found, missing := f.Artifacts(t.Context(), before, false); len(found) == 0 || len(missing) != 1 || missing[0].Bytes != -1 {
		t.Errorf("%d found, missing %+v", len(found), missing)
	}
}

// BenchmarkArtifacts compares two looks at 10,000 files with a walk that reads names.
func BenchmarkArtifacts(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		sub := filepath.Join(dir, fmt.Sprint(i/1000))
		_ = os.Mkdir(sub, 0o755)
		_ = os.WriteFile(filepath.Join(sub, fmt.Sprint(i)), []byte("x"), 0o644)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	f := rootfs.New(root, nil)
	defer f.Close()
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			_ = filepath.WalkDir(dir, func(string, os.DirEntry, error) error { return nil })
		}
	})
	b.Run("looks", func(b *testing.B) {
		for b.Loop() {
			f.Artifacts(b.Context(), f.Snapshot(b.Context()), false)
		}
	})
}
