package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/notebook"
)

// notebookFile writes a JavaScript notebook with the cells.
func notebookFile(t *testing.T, cells ...string) string {
	t.Helper()
	nb := &notebook.Notebook{Metadata: map[string]json.RawMessage{"language_info": json.RawMessage(`{"name":"javascript"}`)}}
	for _, code := range cells {
		nb.Cells = append(nb.Cells, notebook.Cell{Source: code})
	}
	b, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.ipynb")
	if err := os.WriteFile(file, b, 0o640); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRunNotebook(t *testing.T) {
	good := notebookFile(t, "let x = 6; console.log('hi')", "x * 7")
	bad := notebookFile(t, "console.log('a')", "null.x", "console.log('b')")
	spins := notebookFile(t, "1", "for(;;);")
	broken := filepath.Join(t.TempDir(), "b.ipynb")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // stderr: a part of it
	}{
		{"state", []string{good}, 0, "hi\n42\n", ""},
		{"a failing cell", []string{bad}, 1, "a\n", "toolcell: cell 2 of the notebook failed; cells that failed: 1, that did not run: 1"},
		{"errors allowed", []string{bad, "--allow-errors"}, 1, "a\nb\n", "TypeError"},
		{"each cell's time", []string{"--timeout", "200ms", spins}, 124, "1\n", "toolcell: timed out"},
		{"broken", []string{broken}, 2, "", "b.ipynb: notebook: invalid input"},
		{"no such file", []string{"no.ipynb"}, 2, "", "no.ipynb"},
		{"arguments", []string{good, "x"}, 2, "", "takes no arguments"},
		{"JSON", []string{"--json", good}, 2, "", "--out -"},
		{"flags of notebooks", []string{"--allow-errors", "-e", "1"}, 2, "", "for notebooks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := toolcell(t.Context(), "", append([]string{"run"}, tt.args...)...)
			if code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, %q, ...%q...", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

// TestRunNotebookArtifacts: what is left of the files that cells made or changed
// is saved, beside the notebook, and also where a cell failed.
func TestRunNotebookArtifacts(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(in, []byte("a,b"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := notebookFile(t, "const fs = require('fs'); fs.mkdirSync('d'); fs.writeFileSync('d/a', 'x'); fs.writeFileSync('gone', ''); undefined",
		"fs.writeFileSync('d/a', fs.readFileSync('in.csv', 'utf8') + '!'); fs.unlinkSync('gone'); undefined", "fs.writeFileSync('b', ''); null.x", "fs.writeFileSync('c', '')")
	out, written := filepath.Join(t.TempDir(), "made"), filepath.Join(t.TempDir(), "b.ipynb")
	code, _, stderr := toolcell(t.Context(), "", "run", file, "--in", in, "--artifacts", out, "--out", written)
	got := contents(t, out)
	if code != 1 || len(got) != 2 || got["d/a"] != "a,b!" || !strings.Contains(stderr, "saved "+filepath.Join(out, "b")+" (0 bytes)") {
		t.Errorf("code %d, %q, stderr %q", code, got, stderr)
	}
	if _, err := os.Stat(written); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"-e", "1", "--artifacts", out}, {file, "--provider", "subprocess", "--artifacts", out, "--dir", out}, {file, "--artifacts", filepath.Join(in, "x")}} {
		if code, _, stderr := toolcell(t.Context(), "", append([]string{"run"}, args...)...); code != 2 || !strings.Contains(stderr, "--artifacts") {
			t.Errorf("%q: code %d, stderr %q", args, code, stderr)
		}
	}
}

// TestRunNotebookOut: the notebook is written, also over itself, and also where
// a cell failed.
func TestRunNotebookOut(t *testing.T) {
	file := notebookFile(t, "let x = 6; console.log('hi')", "x * 7", "null.x", "1")
	code, stdout, _ := toolcell(t.Context(), "", "run", file, "--out", "-")
	piped, err := notebook.Decode([]byte(stdout))
	if code != 1 || err != nil || len(piped.Cells[2].Outputs) != 1 {
		t.Fatalf("code %d, %v\n%s", code, err, stdout)
	}
	if code, stdout, stderr := toolcell(t.Context(), "", "run", file, "--out", file); code != 1 || stdout != "hi\n42\n" {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Decode(written)
	if err != nil {
		t.Fatal(err)
	}
	if c := nb.Cells[1]; c.ExecutionCount != 2 || string(c.Outputs[0].Data["text/plain"]) != `"42"` || c.Metadata["execution"] == nil {
		t.Errorf("%+v", c)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	if list, err := os.ReadDir(filepath.Dir(file)); err != nil || len(list) != 1 {
		t.Errorf("left beside it: %v, %v", list, err)
	}
	if code, _, stderr := toolcell(t.Context(), "", "run", file, "--out", filepath.Join(file, "x")); code != 1 || !strings.Contains(stderr, "not a directory") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}
