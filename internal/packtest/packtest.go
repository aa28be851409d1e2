// Package packtest finds the pack of the embedded Python for tests.
package packtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Find returns the directory of a pack, "" where there is none. Under CI that fails the test.
func Find(t testing.TB) string {
	t.Helper()
	return find(t, "python-pack", "go run ./cmd/toolcell engine build --out .testenv/python-pack makes one")
}

// Science returns the directory of the science pack. Without one the test is skipped, and
// under CI it fails.
func Science(t testing.TB) string {
	t.Helper()
	dir := find(t, "python-science/python-science-*", "internal/testenv/full/pythonscience.sh installs one")
	if dir == "" {
		t.SkipNow()
	}
	return dir
}

// find looks for a pack under the .testenv of this directory or one above.
func find(t testing.TB, pattern, hint string) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		list, _ := filepath.Glob(filepath.Join(dir, ".testenv", filepath.FromSlash(pattern), "manifest.json")) // the pattern is valid
		if len(list) > 0 {
			return filepath.Dir(list[len(list)-1])
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	report := t.Logf
	if os.Getenv("CI") != "" {
		report = t.Errorf
	}
	report("there is no such pack of Python: %s", hint)
	return ""
}

// Dir returns the directory of a pack. Without one the test is skipped, and under CI it fails.
func Dir(t testing.TB) string {
	t.Helper()
	dir := Find(t)
	if dir == "" {
		t.SkipNow()
	}
	return dir
}

// Cache returns the directory beside a pack that tests share for its native code.
func Cache(dir string) string { return filepath.Join(dir, "cache") }
