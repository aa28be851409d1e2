//go:build real

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingIsStartedTwice: the command probes an interpreter once, and again when the
// interpreter changes.
func TestNothingIsStartedTwice(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	count, own := filepath.Join(dir, "count"), filepath.Join(dir, "python3")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	write := func(more string) {
		if err := os.WriteFile(own, []byte("#!/bin/sh\n"+more+"echo x >>"+count+" 2>/dev/null\nexec "+python+" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func() int {
		_ = os.Remove(count)
		var stdout, stderr strings.Builder
		a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, getenv: os.Getenv}
		code := a.main(t.Context(), []string{"run", "--python", own, "--language", "python", "--allow-unsandboxed", "-e", "print(6 * 7)"})
		if code != 0 || stdout.String() != "42\n" {
			t.Fatalf("code %d, %q, %q", code, &stdout, &stderr)
		}
		b, _ := os.ReadFile(count)
		return strings.Count(string(b), "x")
	}
	write("")
	first, second := run(), run()
	write("# another\n")
	if third := run(); first == 0 || second != 0 || third == 0 {
		t.Errorf("the host asked the interpreter %d, %d and %d times", first, second, third)
	}
}
