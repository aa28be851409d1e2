//go:build linux && real

package jupyter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jupytertest"
	provider "github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/internal/workspacetest"
	"github.com/toolcell/toolcell/workspace/jupyter"
)

// server starts the server of the test parts, which starts its kernels in dir.
// pandas says whether they have it.
func server(t *testing.T) (o provider.Options, dir string, pandas bool) {
	t.Helper()
	s := jupytertest.Start(t, nil)
	found, _ := filepath.Glob(filepath.Join(jupytertest.Environment(t, "server6"), "lib/python3*/site-packages/pandas"))
	return provider.Options{URL: s.Address(), StartTimeout: 5 * time.Minute}, s.Dir, len(found) > 0
}

func open(t *testing.T, o jupyter.Options) *workspace.Workspace {
	t.Helper()
	ws, err := jupyter.New(t.Context(), "demo", &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return ws
}

func TestWorkspace(t *testing.T) {
	so, dir, pandas := server(t)
	t.Run("capsule", func(t *testing.T) {
		workspacetest.Capsule(t, open(t, jupyter.Options{Server: so}), dir, pandas)
	})
	t.Run("directory", func(t *testing.T) { directory(t, so, dir) })
	t.Run("open", func(t *testing.T) { reopen(t, so) })
	t.Run("declared", func(t *testing.T) { declared(t, so) })
	t.Run("faults", func(t *testing.T) { faults(t, so) })
}

// directory wants code of all kinds and the file tools to work on the same files,
// in a directory that the caller names.
func directory(t *testing.T, so provider.Options, dir string) {
	if err := os.Mkdir(filepath.Join(dir, "project"), 0o755); err != nil {
		t.Fatal(err)
	}
	so.Dir = "project"
	ws := open(t, jupyter.Options{Server: so, Workspace: workspace.Options{Tools: tools.Options{Background: true}}})
	answer := func(op, args string) *tools.Answer {
		t.Helper()
		a := ws.Dispatch(t.Context(), "workspace__demo__"+op, []byte(args), nil)
		if a.Failure != nil {
			t.Errorf("%s: %s", op, a.Text)
		}
		return a
	}
	call := func(op, args string) string { t.Helper(); return answer(op, args).Text }
	call("write_file", `{"path":"src/log","content":"tool\n"}`)
	call("run_code", `{"language":"python","code":"open('src/log', 'a').write('python\\n')"}`)
	call("run_command", `{"command":"echo command >>log","cwd":"src"}`)
	var c struct{ CommandID string }
	_ = json.Unmarshal(answer("start_command", `{"command":"read line; echo $line >>src/log; echo done"}`).JSON(), &c)
	call("command_input", `{"commandId":"`+c.CommandID+`","input":"background\n","close":true}`)
	if text := call("command_output", `{"commandId":"`+c.CommandID+`","waitMs":30000}`); !strings.Contains(text, "done\n") {
		t.Errorf("got %s", text)
	}
	const want = "tool\npython\ncommand\nbackground\n"
	if text := call("read_file", `{"path":"`+dir+`/project/src/log"}`); !strings.HasSuffix(text, want) {
		t.Errorf("got %s", text)
	}
	if text := call("run_command", `{"command":"pwd"}`); !strings.Contains(text, filepath.Join(dir, "project")+"\n") {
		t.Errorf("got %s", text)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "project/src/log")); string(b) != want {
		t.Errorf("on the host: %q, %v", b, err)
	}
	named := 0
	for _, tool := range ws.Tools() {
		if strings.Contains(tool.Description, filepath.Join(dir, "project")) {
			named++
		}
	}
	if named < 5 {
		t.Errorf("%d tools say where", named)
	}
	m, ok := codeinterp.Manager(ws.Code())
	if !ok {
		t.Fatal("no manager")
	}
	if list, err := m.ListContexts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("contexts %v, %v", list, err)
	}
}

// declared wants what is declared to be what is offered.
func declared(t *testing.T, so provider.Options) {
	code := &workspace.CodeDeclaration{Languages: []string{"python"}}
	ws := open(t, jupyter.Options{Server: so, Declared: workspace.Declaration{Code: code}})
	if ws.Files() != nil || ws.Shell() != nil || len(ws.Tools()) != 1 {
		t.Errorf("%d tools", len(ws.Tools()))
	}
	ws = open(t, jupyter.Options{Server: so, Declared: workspace.Declaration{Code: code, Shell: true}})
	if ws.Files() != nil || ws.Shell() == nil || len(ws.Tools()) != 2 {
		t.Errorf("with a shell: %d tools", len(ws.Tools()))
	}
}

func faults(t *testing.T, so provider.Options) {
	if _, err := jupyter.New(t.Context(), "demo", nil); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("no address: %v", err)
	}
	so.Dir = "/no/such/directory"
	if _, err := jupyter.New(t.Context(), "demo", &jupyter.Options{Server: so}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("no directory: %v", err)
	}
}

// reopen detaches a workspace and opens it again: its context and its directory are kept, a
// command in the background has ended, and the first answer says so.
func reopen(t *testing.T, so provider.Options) {
	ws := open(t, jupyter.Options{Server: so})
	ci, _ := codeinterp.Stateful(ws.Code())
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err == nil {
		_, err = ci.RunInContext(t.Context(), id, "x = 41; n = open('kept.txt', 'w').write('y')", nil)
	}
	if err == nil {
		_, err = ws.Shell().Start(t.Context(), "sleep 1000", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	ref, err := ws.Detach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ws, parts, err := jupyter.Open(t.Context(), ref, &jupyter.Options{Server: so})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var states []workspace.State
	for _, p := range parts {
		states = append(states, p.State)
	}
	if want := []workspace.State{workspace.Kept, workspace.Gone, workspace.Kept}; !slices.Equal(states, want) {
		t.Errorf("the parts are %q, want %q", states, want)
	}
	args := fmt.Sprintf(`{"contextId": %q, "code": "print(x + 1, open('kept.txt').read())"}`, id)
	text := ws.Dispatch(t.Context(), "workspace__demo__run_in_code_context", []byte(args), nil).Text
	for _, want := range []string{"(python): kept", `("sleep 1000"): gone`, "42 y\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the first answer lacks %q:\n%s", want, text)
		}
	}
}
