package workspace_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

func someFiles(t *testing.T) *files.Service {
	t.Helper()
	root, err := files.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return files.New(root, nil)
}

// TestFiles: the file tools stand beside those of the code, with one read_output
// for all, and by whatever names a front gives them.
func TestFiles(t *testing.T) {
	caps := workspace.Capabilities{Code: newFake("python"), Files: someFiles(t), Declared: workspace.Declaration{Files: true}}
	ws := open(t, caps, &workspace.Options{Tools: tools.Options{ReadOutput: true}})
	front, err := ws.Front(workspace.FrontOptions{Namer: tools.Unprefixed})
	if err != nil {
		t.Fatal(err)
	}
	const want = "run_code read_output read_file write_file edit_file list_files glob grep remove_file"
	for prefix, list := range map[string][]tools.Tool{"workspace__demo__": ws.Tools(), "": front} {
		var names []string
		for _, tool := range list {
			names = append(names, strings.TrimPrefix(tool.Name, prefix))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("got %s", got)
		}
	}
	a := ws.Dispatch(t.Context(), "workspace__demo__write_file", []byte(`{"path":"a","content":"x"}`), nil)
	if a.Failure != nil {
		t.Fatal(a.Text)
	}
	if page, err := ws.Files().Read(t.Context(), "a", files.Range{}); err != nil || page.Text != "x" {
		t.Errorf("%+v, %v", page, err)
	}
	raw, _ := json.Marshal(ws.Ref())
	if !strings.Contains(string(raw), `"files":true`) {
		t.Errorf("ref %s", raw)
	}
	if _, err := workspace.Open(ws.Ref(), workspace.Capabilities{Code: newFake("python")}, nil); !errors.Is(err, workspace.ErrLacking) {
		t.Errorf("opened without files: %v", err)
	}
}

func TestFilesAlone(t *testing.T) {
	ws := open(t, workspace.Capabilities{Files: someFiles(t)}, nil)
	if ws.Code() != nil || len(ws.Tools()) != 7 {
		t.Errorf("%d tools", len(ws.Tools()))
	}
}
