// Package workspacetest tests what every workspace with code, files and a shell
// over one directory has to do.
package workspacetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/workspace"
)

// A step is a piece of Python and all that it leaves.
type step struct{ code, stdout, stderr, text string }

// Capsule goes through a page about a capsule, line by line: code that keeps its
// variables, output, a data frame as CSV that the files read back, a command, a
// list. The directory is the host's; without pandas the CSV is written by hand.
func Capsule(t *testing.T, ws *workspace.Workspace, dir string, pandas bool) {
	t.Helper()
	ci, _ := codeinterp.Stateful(ws.Code())
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(steps(), frame(pandas)...) {
		res, err := ci.RunInContext(t.Context(), id, s.code, nil)
		if err != nil || !res.OK() || res.Stdout() != s.stdout || res.Stderr() != s.stderr || res.Text() != s.text {
			t.Errorf("%s: %+v, %v", s.code, res, err)
		}
	}
	page, err := ws.Files().Read(t.Context(), "data.csv", files.Range{})
	if err != nil || page.Text != "a\n1\n2\n3\n" {
		t.Errorf("read %q, %v", page.Text, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "data.csv")); string(b) != page.Text {
		t.Errorf("on the host: %q, %v", b, err)
	}
	res, err := ws.Shell().Run(t.Context(), "echo hello", nil)
	if err != nil || res.Stdout() != "hello\n" || res.ExitCode != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := ws.Files().Write(t.Context(), dir+"/app/data.txt", []byte("hello world"), nil); err != nil {
		t.Fatal(err)
	}
	list, err := ws.Files().List(t.Context(), "app", nil)
	if err != nil || len(list.Entries) != 1 || list.Entries[0].Path != "app/data.txt" || list.Entries[0].Type != files.TypeFile {
		t.Errorf("%+v, %v", list, err)
	}
}

func steps() []step {
	return []step{
		{"print('hello')", "hello\n", "", ""},
		{"x = 42", "", "", ""},
		{"x * 2", "", "", "84"},
		{"import math", "", "", ""},
		{"math.pi", "", "", "3.141592653589793"},
		{"def greet(name): return f'hello {name}'", "", "", ""},
		{"greet('world')", "", "", "'hello world'"},
		{"1 + 1", "", "", "2"},
		{"print('from print')", "from print\n", "", ""},
		{"import sys; n = sys.stderr.write('warn\\n')", "", "warn\n", ""},
	}
}

func frame(pandas bool) []step {
	if pandas {
		return []step{
			{code: "import pandas as pd; df = pd.DataFrame({'a': [1,2,3]})"},
			{code: "df.to_csv('data.csv', index=False)"},
		}
	}
	return []step{
		{code: "df = ['a', 1, 2, 3]"},
		{code: "open('data.csv', 'w').writelines(f'{x}\\n' for x in df)"},
	}
}
