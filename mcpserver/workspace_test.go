//go:build unix

package mcpserver_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// A context belongs to one client and one of two interpreters.
func TestWorkspace(t *testing.T) {
	main, script := newFake(), newFake()
	ws, err := workspace.New("demo", workspace.Capabilities{
		Code: main, Beside: map[string]codeinterp.CodeInterpreter{"script": script},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	s, err := mcpserver.New(ws, &mcpserver.Options{Limits: mcpserver.Limits{Contexts: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, other := connect(t, s, nil), connect(t, s, nil)
	for _, tool := range []string{"run_code", "script_run_code"} {
		if res := call(t, c, tool, "language", "python", "code", "print x"); res.IsError || !strings.Contains(text(res), "x") {
			t.Errorf("%s: %s", tool, text(res))
		}
	}
	id := newContext(t, c)
	if res := call(t, c, "script_run_in_code_context", "contextId", id, "code", "print x"); !res.IsError || !strings.Contains(text(res), "context_not_found") {
		t.Errorf("a context of the other interpreter: %s", text(res))
	}
	if res := call(t, c, "run_in_code_context", "contextId", id, "code", "print x"); res.IsError {
		t.Errorf("the context afterwards: %s", text(res))
	}
	if res := call(t, other, "script_run_in_code_context", "contextId", id, "code", "print x"); !res.IsError {
		t.Errorf("a context of another client: %s", text(res))
	}
	create := func(tool string) *mcp.CallToolResult { return call(t, c, tool, "language", "python") }
	if res := create("script_create_code_context"); res.IsError {
		t.Errorf("a second context: %s", text(res))
	}
	if res := create("create_code_context"); !res.IsError || !strings.Contains(text(res), "capacity") {
		t.Errorf("a third context, of both interpreters together: %s", text(res))
	}
	c.Close()
	eventually(t, "the contexts of both end with the session", func() bool { return main.contexts()+script.contexts() == 0 })
}

// TestOutputsBelongToTheirClient: no client reads the outputs of another.
func TestOutputsBelongToTheirClient(t *testing.T) {
	store := tools.NewOutputStore(&tools.OutputStoreOptions{MaxCount: 4})
	s := newServer(t, newFake(), nil, tools.Options{ReadOutput: true, MaxText: 1 << 10, Outputs: store})
	a, b := connect(t, s, nil), connect(t, s, nil)
	long := func(c *mcp.ClientSession) string {
		res := call(t, c, "run_code", "language", "python", "code", "print "+strings.Repeat("x", 4<<10))
		id, _ := structured(t, res)["outputId"].(string)
		if id == "" {
			t.Fatalf("no outputId: %s", text(res))
		}
		return id
	}
	id := long(a)
	if res := call(t, a, "read_output", "outputId", id); res.IsError {
		t.Errorf("by its client: %s", text(res))
	}
	if res := call(t, b, "read_output", "outputId", id); !res.IsError || !strings.Contains(text(res), "output_not_found") {
		t.Errorf("by another client: %s", text(res))
	}
	if _, ok := store.Result(id); !ok {
		t.Error("the program itself does not find it")
	}
}

// A shellFake has commands that wait for their end.
type shellFake struct {
	codeinterp.CodeInterpreter
	running *atomic.Int32
}

func (f shellFake) RunCommand(ctx context.Context, _ string, o *codeinterp.CommandOptions) (codeinterp.Result, error) {
	if o.Input == nil {
		out := codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("in " + o.Cwd)}
		return codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{out}}, nil
	}
	f.running.Add(1)
	defer f.running.Add(-1)
	o.Input.Read(nil)
	<-ctx.Done()
	return codeinterp.Result{Status: codeinterp.StatusCanceled}, context.Cause(ctx)
}

// TestWorkspaceShell: commands in the background belong to their client, and end
// with its session and with the server.
func TestWorkspaceShell(t *testing.T) {
	var running atomic.Int32
	sh, err := shell.New(shellFake{newFake(), &running}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Shell: sh}, &workspace.Options{Tools: tools.Options{Background: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	s, err := mcpserver.New(ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, b := connect(t, s, nil), connect(t, s, nil)
	if res := call(t, a, "run_command", "command", "x", "cwd", "src"); res.IsError || !strings.Contains(text(res), "in src") {
		t.Error(text(res))
	}
	id := structured(t, call(t, a, "start_command", "command", "x"))["commandId"]
	call(t, b, "start_command", "command", "x")
	if res := call(t, b, "stop_command", "commandId", id); !res.IsError || !strings.Contains(text(res), "command_not_found") {
		t.Errorf("by another client: %s", text(res))
	}
	if list := structured(t, call(t, b, "list_commands"))["commands"].([]any); len(list) != 1 {
		t.Errorf("another client sees %v", list)
	}
	a.Close()
	eventually(t, "the command of a client ends with its session", func() bool { return running.Load() == 1 })
	s.Close()
	if n := running.Load(); n != 0 {
		t.Errorf("%d commands outlive the server", n)
	}
}
