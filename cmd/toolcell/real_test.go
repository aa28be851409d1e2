//go:build real

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
)

func TestRunOnThisMachine(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no bash on this machine")
	}
	dir := leftover.Dir(t)
	broken := filepath.Join(dir, "not-python")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // stderr: a part of it
	}{
		{"bash", []string{"--language", "bash", "-e", "echo $((6 * 7)); exit 3"}, 3, "42\n", ""},
		{"limits", []string{"--language", "bash", "--memory", "200M", "--disk", "1M", "--processes", "50", "-e", "while :; do head -c 100000 /dev/zero >> f; done"}, 137, "", "disk"},
		{"no such interpreter", []string{"--python", "/no/python3", "--language", "python", "-e", ""}, 2, "", "/no/python3"},
		{"no interpreter, no language", []string{"--python", os.DevNull, "-e", "7/2|0"}, 2, "", "--python"},
		{"interpreter that does not work", []string{"--python", broken, "-e", "7/2|0"}, 1, "", "or give its path by --python"},
		{"no such Node.js", []string{"--node", "/no/node", "-e", "1"}, 2, "", "--node /no/node"},
		{"bad size", []string{"--memory", "much", "-e", ""}, 2, "", "512M"},
		{"isolation", []string{"--isolation", "maybe", "-e", ""}, 2, "", "bwrap, landlock or none"},
		{"no such path", []string{"--read", dir + "/none", "-e", ""}, 2, "", "none"},
		{"other language", []string{"--language", "cobol", "-e", ""}, 2, "", "language not supported"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"run", "--provider", "subprocess", "--allow-unsandboxed"}, tt.args...)
			if code, stdout, stderr := toolcell(t.Context(), "", args...); code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, %q, ...%q...", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

// TestReplOfProcesses: python and bash speak as at their own prompts.
func TestReplOfProcesses(t *testing.T) {
	dir := scripts(t, map[string]string{"near.py": "v = 5\n", "near.txt": "text\n"})
	for _, tt := range []struct{ language, stdin, stdout string }{
		{"python", "import near\ndef f(x):\n    if x:\n        return 1\n    return 2\n\nf(0) + near.v\n", "7\n"},
		{"python", "@str\ndef f(): pass\n\nf[:5]\n", "'<func'\n"},
		{"python", "6 * 7\nx = 1\n_ + 1\n", "42\n43\n"},
		{"javascript", "6 * 7\nlet x = 1\n_ + 1\n", "42\n43\n"},
		{"bash", "a=3\nfor i in 1 2; do\n  echo $i$a\ndone\ncat near.txt\n:restart\ncat near.txt; echo \"[$a]\"\n", "13\n23\ntext\ntext\n[]\n"},
	} {
		t.Run(tt.language, func(t *testing.T) {
			needs(t, map[string]string{"python": "python3", "javascript": "node", "bash": "bash"}[tt.language])
			code, stdout, stderr := toolcell(t.Context(), tt.stdin, "repl", "--provider", "subprocess", "--language", tt.language, "--dir", dir)
			if code != 0 || stdout != tt.stdout || stderr != "" {
				t.Errorf("code %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tt.stdout)
			}
		})
	}
}

func TestDoctor(t *testing.T) {
	code, stdout, _ := toolcell(t.Context(), "", "doctor", "--provider", "inmemory")
	for _, want := range []string{"inmemory", "javascript", "works", "isolation", "network"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("code %d; the report lacks %q:\n%s", code, want, stdout)
		}
	}
	if code, stdout, _ := toolcell(t.Context(), "", "doctor", "--provider", "jupyter", "--url", "http://127.0.0.1:1"); code != 1 {
		t.Errorf("code %d for a server that is not there:\n%s", code, stdout)
	}
}
