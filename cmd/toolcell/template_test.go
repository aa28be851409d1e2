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

// TestTemplate: run and repl start with a template's interpreter, files, environment and
// limits, and flags win.
func TestTemplate(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no bash on this machine")
	}
	t.Setenv("TMPDIR", leftover.Dir(t)) // other tests have templates too
	dir := t.TempDir()
	file, wrong := filepath.Join(dir, "data.json"), filepath.Join(dir, "wrong.json")
	net, repo := filepath.Join(dir, "net.json"), filepath.Join(dir, "repo.json")
	for path, text := range map[string]string{
		repo:  `{"git": true}`,
		net:   `{"languages": ["bash"], "network": {"allow": ["api.example.com"]}}`,
		file:  `{"languages": ["bash", "python"], "files": {"d/a.txt": "text", "b.txt": {"from": "seed"}}, "env": {"MODE": "template"}, "limits": {"timeout": "2s"}}`,
		wrong: "{\n\"image\": \"x\"\n}", filepath.Join(dir, "seed"): "seed",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, stdin    string
		args           []string
		code           int
		stdout, stderr string // parts of them
	}{
		{"run", "", []string{"run", "--template", file, "--allow-unsandboxed", "-e", "cat d/a.txt b.txt; echo $MODE"}, 0, "textseedtemplate\n", ""},
		{"a flag wins", "", []string{"run", "--template", file, "--allow-unsandboxed", "--language", "python", "--env", "MODE=flag", "-e", "import os; print(os.environ['MODE'])"}, 0, "flag\n", ""},
		{"limits", "", []string{"run", "--template", file, "--allow-unsandboxed", "-e", "sleep 30"}, 124, "", ""},
		{"repl", "cat d/a.txt b.txt; echo $MODE\n", []string{"repl", "--template", file, "--allow-unsandboxed", "--timeout", "1m"}, 0, "textseedtemplate\n", ""},
		{"no other language", "", []string{"run", "--template", file, "--allow-unsandboxed", "--language", "javascript", "-e", "1"}, 1, "", "supported: bash, python, by the template"},
		{"no network", "", []string{"run", "--template", net, "--allow-unsandboxed", "--net", "off", "-e", "echo off"}, 0, "off\n", ""},
		{"unknown key", "", []string{"run", "--template", wrong, "-e", "1"}, 2, "", `unknown key "image"`},
		{"none", "", []string{"run", "--template", "none", "-e", "1"}, 2, "", "none.json"},
		{"another provider", "", []string{"run", "--template", file, "--provider", "inmemory", "-e", "1"}, 2, "", "--provider subprocess"},
		{"a server without a directory", "", []string{"mcp", "--template", file, "--allow-unsandboxed"}, 2, "", "add --dir DIR and --files"},
		{"repositories without a directory", "", []string{"mcp", "--template", repo, "--allow-unsandboxed"}, 2, "", "add --dir DIR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := toolcell(t.Context(), tt.stdin, tt.args...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "toolcell-template-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
