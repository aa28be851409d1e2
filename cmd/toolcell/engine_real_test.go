//go:build real

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/packtest"
	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

// A pack is installed once, and runs Python without an interpreter on the machine.
func TestEnginePython(t *testing.T) {
	t.Setenv("TOOLCELL_ENGINES", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	for _, name := range []string{"python.wasm", "stdlib.zip"} {
		b, err := os.ReadFile(filepath.Join(packtest.Dir(t), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := pack.Describe(dir, &pack.Manifest{Name: packName, Version: "3.13.15-1", Python: "3.13.15"}, "python.wasm", "stdlib.zip"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "data.py")
	if err := os.WriteFile(file, []byte("import sqlite3, sys\nprint(sqlite3.connect(':memory:').execute('select 6*7').fetchone()[0], sys.argv)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"engine install python --from " + dir, "python-small-3.13.15-1: Python 3.13.15 in "},
		{"engine list", "python-small-3.13.15-1\tPython 3.13.15"},
		{"engine verify python-small-3.13.15-1", ""},
		{"run --provider inmemory " + file + " x", "42 ['"},
		{"engine remove python-small-3.13.15-1", ""},
	} {
		if code, out, errs := toolcell(t.Context(), "", strings.Fields(c.args)...); code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s: %d %s %s", c.args, code, out, errs)
		}
	}
}

// TestEngineRelease: a released command installs the pack of its release and no other.
func TestEngineRelease(t *testing.T) {
	t.Setenv("TOOLCELL_ENGINES", t.TempDir())
	var archive bytes.Buffer
	if err := pack.Archive(&archive, os.DirFS(packtest.Dir(t))); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(archive.Bytes()) }))
	defer srv.Close()
	t.Cleanup(func() { packURL, packSHA256 = "", "" })
	packURL, packSHA256 = srv.URL+"/python.tar.gz", strings.Repeat("0", 64)
	if code, out, errs := toolcell(t.Context(), "", "engine", "install", "python"); code == 0 || !strings.Contains(errs, "not the expected one") {
		t.Errorf("another sum: %d %s %s", code, out, errs)
	}
	packSHA256 = fmt.Sprintf("%x", sha256.Sum256(archive.Bytes()))
	if code, out, errs := toolcell(t.Context(), "", "engine", "install", "python"); code != 0 || !strings.Contains(out, "Python 3.") || !strings.Contains(errs, "some 7 MB") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if code, out, errs := toolcell(t.Context(), "", "run", "--provider", "inmemory", "--language", "python", "-e", "6*7"); code != 0 || strings.TrimSpace(out) != "42" || errs != "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	mcpForks(t, "inmemory")
}

// mcpForks copies a context by the tool.
func mcpForks(t *testing.T, provider string) {
	t.Helper()
	c, hangUp := serveMCP(t, "--provider", provider, "--fork")
	_, made := callTool(t, c, "create_code_context", "language", "python")
	id, _ := made["contextId"].(string)
	callTool(t, c, "run_in_code_context", "contextId", id, "code", "x = [1]")
	_, forked := callTool(t, c, "fork_code_context", "contextId", id)
	other, _ := forked["contextId"].(string)
	callTool(t, c, "run_in_code_context", "contextId", other, "code", "x.append(2)")
	for id, want := range map[string]string{id: "[1]", other: "[1, 2]"} {
		if text, _ := callTool(t, c, "run_in_code_context", "contextId", id, "code", "x"); !strings.Contains(text, want) {
			t.Errorf("%s: %s", id, text)
		}
	}
	hangUp()
}
