package workspace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// A fakeShell prints its command, or waits for its end.
type fakeShell struct{ *fake }

func (f fakeShell) RunCommand(ctx context.Context, command string, o *codeinterp.CommandOptions) (codeinterp.Result, error) {
	if o.Input != nil {
		o.Input.Read(nil)
	}
	if command == "wait" {
		<-ctx.Done()
		return codeinterp.Result{Status: codeinterp.StatusCanceled}, context.Cause(ctx)
	}
	return f.RunCode(ctx, "", command, &o.RunOptions)
}

func newShell(t *testing.T) *shell.Shell {
	t.Helper()
	s, err := shell.New(fakeShell{newFake("python")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShell: the shell tools stand beside the others, commands are events of the
// workspace, and those in the background end with it.
func TestShell(t *testing.T) {
	caps := workspace.Capabilities{Code: newFake("python"), Shell: newShell(t), Declared: workspace.Declaration{Shell: true}}
	ws := open(t, caps, &workspace.Options{Tools: tools.Options{Background: true, ReadOutput: true}})
	own, err := tools.ForShell("demo", caps.Shell, &tools.Options{Background: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(ws.Tools()), "run_code read_output "+names(own); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var types []string
	ws.Subscribe(func(e workspace.Event) { types = append(types, e.Type+" "+e.Tool) }, nil)
	a := ws.Dispatch(t.Context(), "workspace__demo__run_command", []byte(`{"command":"ab"}`), nil)
	if a.Failure != nil || !strings.Contains(a.Text, "a\nb") {
		t.Error(a.Text)
	}
	a = ws.Dispatch(t.Context(), "workspace__demo__start_command", []byte(`{"command":"wait"}`), nil)
	if a.Failure != nil {
		t.Fatal(a.Text)
	}
	if res, err := ws.Shell().Run(t.Context(), "cd", nil); err != nil || res.Stdout() != "cd" {
		t.Error(res, err)
	}
	if list, _ := ws.Shell().List(t.Context()); len(list) != 1 || !list[0].Running {
		t.Errorf("%+v", list)
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	const tool = "workspace__demo__"
	wantTypes := []string{
		"workspace_shell_start " + tool + "run_command", "workspace_shell_output " + tool + "run_command", "workspace_shell_output " + tool + "run_command", "workspace_shell_end " + tool + "run_command",
		"workspace_shell_start " + tool + "start_command",
		"workspace_shell_start ", "workspace_shell_output ", "workspace_shell_output ", "workspace_shell_end ",
		"workspace_shell_end " + tool + "start_command",
	}
	if !slices.Equal(types, wantTypes) {
		t.Errorf("events %q", types)
	}
	_, err = workspace.New("demo", workspace.Capabilities{Code: newFake("python"), Declared: workspace.Declaration{Shell: true}}, nil)
	if !errors.Is(err, workspace.ErrLacking) {
		t.Errorf("opened without shell: %v", err)
	}
}
