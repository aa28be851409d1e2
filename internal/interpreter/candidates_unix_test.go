//go:build unix

package interpreter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCandidates: an active environment comes before PATH, for Python only; the
// working directory is never looked at; a command with a slash means itself.
func TestCandidates(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"venv", "conda", "project/.venv", "other"} {
		bin := filepath.Join(top, dir, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"python3", "node"} {
			if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Chdir(filepath.Join(top, "project"))
	t.Setenv("PATH", top+"/other/bin:.venv/bin")
	for _, c := range []struct{ name, venv, conda, want string }{
		{"no environment", "", "", "other"},
		{"of activate and uv", top + "/venv", "", "venv other"},
		{"of conda", "", top + "/conda", "conda other"},
		{"one inside of the other", top + "/venv", top + "/conda", "venv conda other"},
		{"what is on PATH too", top + "/other", "", "other"},
		{"a path that depends on where the host is", ".venv", "", "other"},
		{"one that is gone", top + "/gone", "", "other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("VIRTUAL_ENV", c.venv)
			t.Setenv("CONDA_PREFIX", c.conda)
			var got []string
			for _, path := range Candidates([]string{"python3"}, true) {
				if rel, err := filepath.Rel(top, path); err == nil && !strings.HasPrefix(rel, "..") {
					got = append(got, strings.TrimSuffix(rel, "/bin/python3"))
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("candidates are of %q, want %q", got, c.want)
			}
		})
	}
	t.Setenv("VIRTUAL_ENV", top+"/venv")
	if got := Candidates([]string{"node"}, false); len(got) == 0 || got[0] != top+"/other/bin/node" {
		t.Errorf("node is looked for at %q", got)
	}
	if got := Candidates([]string{"./python"}, true); !slices.Equal(got, []string{top + "/project/python"}) {
		t.Errorf("a path is looked for at %q", got)
	}
}
