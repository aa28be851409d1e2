//go:build real

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestAdopt: every command works in the kernel that somebody has, by its id and by
// its path, and leaves it as it is.
func TestAdopt(t *testing.T) {
	t.Parallel()
	address := jupytertest.Server(t)
	owner, err := jupyter.NewStateful(t.Context(), &jupyter.Options{URL: address, Tag: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close() })
	id, err := owner.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	own := func(when, code, want string) {
		t.Helper()
		if res, err := owner.RunInContext(t.Context(), id, code, nil); err != nil || res.Stdout() != want || res.StateLost {
			t.Errorf("%s: %q: %+v, %v", when, code, res, err)
		}
	}
	own("owner", "precious = 41", "")
	list, err := owner.Kernels(t.Context())
	if err != nil || len(list) != 1 || list[0].Path == "" {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, which := range []string{list[0].ID, list[0].Path} {
		for _, c := range [][2]string{
			{"-e print(precious+1);more=2", "42\n"},
			{"--json -e print(more)", `"2\n"`},
			{"-e 1/0", ""},
		} {
			args, want := c[0], c[1]
			code, stdout, stderr := toolcell(t.Context(), "", append([]string{"run", "--url", address, "--adopt", which}, strings.Fields(args)...)...)
			if !strings.Contains(stdout, want) || (code == 0) == (want == "") {
				t.Errorf("%s: code %d, %q, %q", args, code, stdout, stderr)
			}
		}
	}
	own("after run", "print(more, precious)", "2 41\n")

	file := filepath.Join(t.TempDir(), "x.ipynb")
	notebook := []byte(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"id":"a","cell_type":"code","source":"print(precious)\nnote = 3","metadata":{},"outputs":[],"execution_count":null}]}`)
	if err := os.WriteFile(file, notebook, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := toolcell(t.Context(), "", "run", "--url", address, "--adopt", list[0].ID, file); code != 0 || stdout != "41\n" {
		t.Errorf("notebook: code %d, %q, %q", code, stdout, stderr)
	}

	c, hangUp := serveMCP(t, "--url", address, "--manage", "--adopt", list[0].ID)
	said, made := callTool(t, c, "create_code_context", "language", "python")
	text, _ := callTool(t, c, "run_in_code_context", "contextId", fmt.Sprint(made["contextId"]), "code", "print(precious, note); theirs = 4")
	if !strings.Contains(text, "41 3") {
		t.Errorf("mcp: %s, %v, %s", said, made, text)
	}
	if text, _ := callTool(t, c, "restart_code_context", "contextId", fmt.Sprint(made["contextId"])); !strings.Contains(text, "not ours to restart") {
		t.Errorf("restart: %s", text)
	}
	if code := hangUp(); code != 0 {
		t.Errorf("mcp: exit code %d", code)
	}
	own("after mcp", "print(theirs)", "4\n")

	for args, want := range map[string]string{
		"--adopt nothing -e 1":                            "no kernel or open notebook",
		"--adopt nothingelse -e 1":                        list[0].ID + " (python3, ",
		"--out o --adopt " + list[0].ID + " -e 1":         "adopted kernels",
		"--language r --adopt " + list[0].ID + " -e 1":    "python",
		"--env A=b --adopt " + list[0].ID + " -e print()": "environment",
		"--adopt x --provider subprocess -e 1":            "--adopt goes with --url",
	} {
		words := append([]string{"run", "--url", address}, strings.Fields(args)...)
		if code, _, stderr := toolcell(t.Context(), "", words...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, %q", args, code, stderr)
		}
	}
	own("in the end", "print(precious)", "41\n")
}
