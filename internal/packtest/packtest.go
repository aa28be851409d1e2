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
	dir, err := os.Getwd()
	for err == nil {
		pack := filepath.Join(dir, ".testenv", "python-pack")
		if _, err := os.Stat(filepath.Join(pack, "manifest.json")); err == nil {
			return pack
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
	report("there is no pack of Python: go run ./internal/pybuild -fetch makes one in .testenv/python-pack")
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
