package diskuse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "d/b", "d/e/c"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 100_000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/usr", filepath.Join(dir, "soft")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "a"), 1<<40); err != nil {
		t.Log(err)
	}
	if w, _ := Measure(dir, Use{-1, -1}); w.Inodes != 7 || w.Bytes < 300_000 || w.Bytes > 400_000 {
		t.Errorf("got %+v", w)
	}
	if w, _ := Measure(dir, Use{-1, 3}); w.Inodes != 4 {
		t.Errorf("got %+v", w)
	}
}

// TestMeasureDepth: a tree that is too deep is reported.
func TestMeasureDepth(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 200)), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(dir, Use{-1, -1}); err != ErrUnmeasured {
		t.Errorf("got %v", err)
	}
}
