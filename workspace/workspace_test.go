package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

func open(t testing.TB, caps workspace.Capabilities, opts *workspace.Options) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.New("demo", caps, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func TestNames(t *testing.T) {
	ws := open(t, workspace.Capabilities{
		Code:   statefulFake{newFake("python")},
		Beside: map[string]codeinterp.CodeInterpreter{"script": newFake("javascript")},
	}, nil)
	var names []string
	for _, tool := range ws.Tools() {
		names = append(names, tool.Name)
	}
	want := []string{
		"workspace__demo__run_code", "workspace__demo__create_code_context",
		"workspace__demo__run_in_code_context", "workspace__demo__delete_code_context",
		"workspace__demo__script_run_code",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if ws.Name() != "demo" {
		t.Errorf("name %q", ws.Name())
	}
}

func TestDeclarations(t *testing.T) {
	code := &workspace.CodeDeclaration{Languages: []string{"python", "bash"}, Stateful: true, Managed: true}
	for _, tt := range []struct {
		name string
		caps workspace.Capabilities
		want []string // parts of the error; none: no error
	}{
		{"nothing", workspace.Capabilities{}, []string{"no interpreter"}},
		{"nothing declared", workspace.Capabilities{Code: newFake("python")}, nil},
		{
			"all lacking",
			workspace.Capabilities{Code: newFake("python"), Declared: workspace.Declaration{Code: code}},
			[]string{`"code"`, "language bash (it has python)", "contexts", "interrupting"},
		},
		{
			"fulfilled",
			workspace.Capabilities{Code: statefulFake{newFake("bash", "python")}, Declared: workspace.Declaration{
				Code: &workspace.CodeDeclaration{Languages: []string{"python"}, Stateful: true},
			}},
			nil,
		},
		{
			"hidden",
			workspace.Capabilities{Code: codeinterp.Stateless(statefulFake{newFake("python")}), Declared: workspace.Declaration{
				Code: &workspace.CodeDeclaration{Stateful: true},
			}},
			[]string{"contexts that keep state", "names no language"},
		},
		{
			"beside missing",
			workspace.Capabilities{Code: newFake("python"), Declared: workspace.Declaration{
				Beside: map[string]workspace.CodeDeclaration{"script": {}},
			}},
			[]string{`"script"`},
		},
		{
			"beside badly named",
			workspace.Capabilities{Code: newFake("python"), Beside: map[string]codeinterp.CodeInterpreter{"a__b": newFake("x")}},
			[]string{`"a__b"`},
		},
		{
			"beside nil",
			workspace.Capabilities{Code: newFake("python"), Beside: map[string]codeinterp.CodeInterpreter{"script": nil}},
			[]string{`"script" is nil`},
		},
		{
			"name clash",
			workspace.Capabilities{Code: newFake("python"), Beside: map[string]codeinterp.CodeInterpreter{
				"s": newFake("x"), "S": newFake("x"),
			}},
			[]string{"too much alike"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws, err := workspace.New("demo", tt.caps, nil)
			if (err == nil) != (tt.want == nil) || (ws == nil) != (err != nil) {
				t.Fatalf("got %v, %v", ws, err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in %q", part, err)
				}
			}
		})
	}
}

func TestBadName(t *testing.T) {
	for _, name := range []string{"", "a\x00b", " a", strings.Repeat("x", 257)} {
		if _, err := workspace.New(name, workspace.Capabilities{Code: newFake("python")}, nil); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
	// The interpreter's name and the workspace's are too long together.
	_, err := workspace.New(strings.Repeat("x", 32), workspace.Capabilities{
		Beside: map[string]codeinterp.CodeInterpreter{strings.Repeat("y", 20): newFake("python")},
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "characters") {
		t.Errorf("got %v", err)
	}
}

// TestSharedOutputs: one read_output serves all interpreters.
func TestSharedOutputs(t *testing.T) {
	ws := open(t, workspace.Capabilities{
		Code:   newFake("python"),
		Beside: map[string]codeinterp.CodeInterpreter{"script": newFake("javascript")},
	}, &workspace.Options{Tools: tools.Options{ReadOutput: true, MaxText: 1024}})
	var names []string
	for _, tool := range ws.Tools() {
		names = append(names, tool.Name)
	}
	want := []string{"workspace__demo__run_code", "workspace__demo__read_output", "workspace__demo__script_run_code"}
	if !slices.Equal(names, want) {
		t.Fatalf("got %v", names)
	}
	long := strings.Repeat("0123456789\n", 1000)
	args, _ := json.Marshal(map[string]string{"language": "javascript", "code": long})
	reply := ws.Dispatch(t.Context(), "workspace__demo__script_run_code", args, nil)
	if !strings.Contains(reply.Text, "workspace__demo__read_output with outputId") {
		t.Fatal(reply.Text[:300])
	}
	page := ws.Dispatch(t.Context(), "workspace__demo__read_output", []byte(`{"outputId":"`+reply.OutputID+`","limit":5}`), nil)
	if !strings.HasPrefix(page.Text, "[bytes 0 to 5 of ") || !strings.HasSuffix(page.Text, "]\n01234") {
		t.Error(page.Text)
	}
}

func TestClose(t *testing.T) {
	f := newFake("python")
	f.script = f.untilClosed
	ws, err := workspace.New("demo", workspace.Capabilities{Code: f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan bool, 1)
	var seen []string
	ws.Subscribe(func(e workspace.Event) {
		seen = append(seen, e.Type)
		if e.Type == workspace.TypeOutput {
			started <- true
		}
	}, nil)
	done := make(chan *tools.Answer)
	go func() {
		done <- ws.Dispatch(context.Background(), "workspace__demo__run_code", []byte(`{"language":"python","code":"x"}`), nil)
	}()
	<-started
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	if want := []string{workspace.TypeStart, workspace.TypeOutput, workspace.TypeEnd}; !slices.Equal(seen, want) {
		t.Errorf("after Close: got %v, want %v", seen, want)
	}
	r := <-done
	if r.Result == nil || r.Result.Status != codeinterp.StatusLost || !errors.Is(r.Err, codeinterp.ErrClosed) {
		t.Errorf("got %+v", r)
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	ws.Dispatch(context.Background(), "workspace__demo__run_code", []byte(`{"language":"python","code":"x"}`), nil)
	if len(seen) != 3 {
		t.Errorf("an event came after Close: %v", seen)
	}
	ws.Subscribe(func(workspace.Event) { t.Error("an event came after Close") }, nil)()
}

// TestWrap: the tools of Wrap serve Dispatch and are those of Front.
func TestWrap(t *testing.T) {
	calls := 0
	opts := &workspace.Options{Wrap: func(list []tools.Tool) []tools.Tool {
		for i := range list {
			invoke := list[i].Invoke
			list[i].Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer { calls++; return invoke(ctx, c) }
		}
		return list
	}}
	ws := open(t, workspace.Capabilities{Code: newFake("python")}, opts)
	args := []byte(`{"language":"python","code":"a"}`)
	ws.Dispatch(t.Context(), "workspace__demo__run_code", args, nil)
	front, err := ws.Front(nil)
	if err != nil {
		t.Fatal(err)
	}
	front[0].Invoke(t.Context(), tools.Invocation{Args: args})
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

// names are those of tools, without the workspace's.
func names(list []tools.Tool) string {
	var all []string
	for _, tool := range list {
		all = append(all, strings.TrimPrefix(tool.Name, "workspace__demo__"))
	}
	return strings.Join(all, " ")
}
