//go:build unix && real

package local_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/internal/workspacetest"
	"github.com/toolcell/toolcell/workspace/local"
)

func TestMain(m *testing.M) {
	subprocess.RunKeeper()
	if runHost != nil {
		runHost()
	}
	os.Exit(leftover.Run(m))
}

// runHost is set in processes that are to be killed.
var runHost func()

// open returns a workspace over a new directory.
func open(t testing.TB, o local.Options) (ws *workspace.Workspace, dir string) {
	t.Helper()
	dir = leftover.Dir(t)
	if o.Subprocess.Sandbox.Mode == subprocess.Auto {
		o.Subprocess.Sandbox.Mode = subprocess.Landlock
	}
	ws, err := local.New("demo", dir, &o)
	if os.Getenv("CI") == "" && (errors.Is(err, codeinterp.ErrIsolation) || errors.Is(err, codeinterp.ErrUnavailable)) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return ws, dir
}

// python returns a Python with pandas where the tests have one.
func python(t testing.TB) (l subprocess.Language, pandas bool) {
	l = subprocess.Python()
	path, err := filepath.Abs("../../.testenv/python/bin/python")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return l, false
	}
	l.Commands = []string{path}
	found, _ := filepath.Glob("../../.testenv/python/lib/python3*/site-packages/pandas")
	return l, len(found) > 0
}

// TestCapsule goes through the page about a capsule in every mode.
func TestCapsule(t *testing.T) {
	l, pandas := python(t)
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			ws, dir := open(t, local.Options{Subprocess: subprocess.Options{Sandbox: subprocess.Sandbox{Mode: mode, AllowNone: true}, Languages: []subprocess.Language{l}}})
			workspacetest.Capsule(t, ws, dir, pandas)
		})
	}
}

// TestOnePath: code, commands, files and the host name the directory alike, in every
// mode; in bwrap mode /workspace leads to it too, and is elsewhere nothing. What a
// program has for itself is not in it.
func TestOnePath(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			ws, dir := open(t, local.Options{Subprocess: subprocess.Options{Sandbox: subprocess.Sandbox{Mode: mode, AllowNone: true}, Languages: []subprocess.Language{subprocess.Bash()}}})
			code, err := ws.Code().RunCode(t.Context(), "bash", "pwd; echo x > $HOME/own && echo y > $TMPDIR/own && echo $PWD", nil)
			if want := dir + "\n" + dir + "\n"; err != nil || code.Stdout() != want {
				t.Errorf("code: %q, %q, %v", code.Stdout(), code.Stderr(), err)
			}
			if res, err := ws.Shell().Run(t.Context(), "pwd", nil); err != nil || res.Stdout() != dir+"\n" {
				t.Errorf("command: %q, %v", res.Stdout(), err)
			}
			if info := codeinterp.Describe(ws.Code()); info.Workdir != dir {
				t.Errorf("described as %q", info.Workdir)
			}
			if err := ws.Files().Write(t.Context(), dir+"/a", []byte("a"), nil); err != nil {
				t.Error(err)
			}
			res, err := ws.Code().RunCode(t.Context(), "bash", "cat /workspace/a && echo b > /workspace/b", nil)
			if err != nil || res.OK() != (mode == subprocess.Bwrap) {
				t.Errorf("/workspace: %q, %q, %v", res.Stdout(), res.Stderr(), err)
			}
			var names []string
			list, _ := os.ReadDir(dir)
			for _, e := range list {
				names = append(names, e.Name())
			}
			if want := map[bool]string{true: "a b", false: "a"}[mode == subprocess.Bwrap]; strings.Join(names, " ") != want {
				t.Errorf("in the directory are %q", names)
			}
		})
	}
}

// TestTools: what a tool writes, commands and code of all kinds find, and change,
// in the same directory, which all call by one name, and as the same user.
func TestTools(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) { toolsIn(t, mode) })
	}
}

func toolsIn(t *testing.T, mode subprocess.Mode) {
	l, _ := python(t)
	ws, dir := open(t, local.Options{
		Subprocess: subprocess.Options{Sandbox: subprocess.Sandbox{Mode: mode, AllowNone: true}, Languages: []subprocess.Language{l, subprocess.Bash()}},
		Workspace:  workspace.Options{Tools: tools.Options{Background: true}},
	})
	call := func(op, args string) *tools.Answer {
		t.Helper()
		a := ws.Dispatch(t.Context(), "workspace__demo__"+op, []byte(args), nil)
		if a.Failure != nil {
			t.Errorf("%s: %s", op, a.Text)
		}
		return a
	}
	call("write_file", `{"path":"src/log","content":"tool\n"}`)
	call("run_code", `{"language":"python","code":"open('src/log', 'a').write('python\\n'); open('helper.py', 'w').write('x = 5')"}`)
	call("run_code", `{"language":"bash","code":"echo bash >>src/log"}`)
	call("run_command", `{"command":"echo command >>log; python -B -c 'import sys; sys.path.insert(0, \"..\"); import helper; print(helper.x)'","cwd":"src"}`)
	var c struct{ CommandID string }
	_ = json.Unmarshal(call("start_command", `{"command":"echo background >>src/log; rm helper.py"}`).JSON(), &c)
	call("command_output", `{"commandId":"`+c.CommandID+`","waitMs":30000}`)
	call("edit_file", `{"path":"src/log","oldText":"tool","newText":"edited"}`)
	want := "edited\npython\nbash\ncommand\nbackground\n"
	if a := call("read_file", `{"path":"`+dir+`/src/log"}`); !strings.HasSuffix(a.Text, want) {
		t.Errorf("got %s", a.Text)
	}
	if a := call("run_code", `{"language":"python","code":"import os; print(os.getcwd())"}`); !strings.Contains(a.Text, dir+"\n") || ws.Files().Dir() != dir {
		t.Errorf("code is in %s, files in %s", a.Text, ws.Files().Dir())
	}
	if a := call("run_command", `{"command":"pwd; ls"}`); !strings.Contains(a.Text, dir+"\nsrc\n") {
		t.Errorf("got %s", a.Text)
	}
	if user := codeinterp.Describe(ws.Code()).Isolation.User; !strings.Contains(user, "the same for all programs") {
		t.Errorf("user %s", user)
	}
	for _, op := range []string{"run_command", "start_command", "read_file", "run_code"} {
		i := slices.IndexFunc(ws.Tools(), func(tool tools.Tool) bool { return tool.Name == "workspace__demo__"+op })
		if !strings.Contains(ws.Tools()[i].Description, dir) {
			t.Errorf("%s does not say where", op)
		}
	}
}

// TestDeclared: what is declared is what is offered.
func TestDeclared(t *testing.T) {
	o := local.Options{
		Subprocess: subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}},
		Declared:   workspace.Declaration{Code: &workspace.CodeDeclaration{Languages: []string{"bash"}}},
	}
	ws, _ := open(t, o)
	if ws.Shell() != nil || ws.Files() != nil || len(ws.Tools()) != 1 {
		t.Errorf("%d tools", len(ws.Tools()))
	}
	o.Declared.Shell = true
	ws, _ = open(t, o)
	if ws.Shell() == nil || ws.Files() != nil || len(ws.Tools()) != 2 {
		t.Errorf("%d tools", len(ws.Tools()))
	}
}

// TestClose: nothing lives on after Close, which TestMain looks for.
func TestClose(t *testing.T) {
	ws, _ := open(t, local.Options{Subprocess: subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}})
	id, err := ws.Shell().Start(t.Context(), "trap '' TERM HUP INT; sleep 1000 & sleep 1000", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := ws.Shell().Wait(t.Context(), id); info.Running || !errors.Is(info.Err, codeinterp.ErrClosed) || err != nil {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := ws.Files().Read(t.Context(), "x", files.Range{}); err == nil {
		t.Error("files are still open")
	}
}
