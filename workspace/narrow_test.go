package workspace_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

func TestDeclaredIsOffered(t *testing.T) {
	f := newFake("bash", "python")
	f.script = func(context.Context, string, *codeinterp.RunOptions) (codeinterp.Result, error) {
		return codeinterp.Result{Status: codeinterp.StatusOK}, errors.New("the interpreter was asked")
	}
	ws := open(t, workspace.Capabilities{
		Code:     statefulFake{f},
		Declared: workspace.Declaration{Code: &workspace.CodeDeclaration{Languages: []string{"python"}}},
	}, nil)
	tools := ws.Tools()
	if len(tools) != 1 || tools[0].Op != codeinterp.OpRun {
		t.Errorf("contexts that are not declared are offered: %d tools", len(tools))
	}
	for _, text := range []string{tools[0].Description, string(tools[0].InputSchema), string(tools[0].StrictSchema)} {
		if strings.Contains(text, "bash") {
			t.Errorf("bash is spoken of: %s", text)
		}
	}
	a := ws.Dispatch(t.Context(), "workspace__demo__run_code", []byte(`{"language":"bash","code":"x"}`), nil)
	if a.Failure == nil || a.Failure.Code != "unsupported_language" || a.Result != nil {
		t.Errorf("got %s", a.Text)
	}
	a = ws.Dispatch(t.Context(), "workspace__demo__create_code_context", []byte(`{"language":"python"}`), nil)
	if a.Failure == nil || a.Failure.Code != "unknown_tool" {
		t.Errorf("got %s", a.Text)
	}
	if res, err := ws.Code().RunCode(t.Context(), "bash", "x", nil); !errors.Is(err, codeinterp.ErrLanguage) || res.Status != codeinterp.StatusNotRun {
		t.Errorf("the program's own run: %v, %v", res.Status, err)
	}
}

// TestDeclaredContexts: a context of a language that is not declared does not
// run, though its id is known.
func TestDeclaredContexts(t *testing.T) {
	f := statefulFake{newFake("bash", "python")}
	id, _ := f.CreateContext(t.Context(), "bash", nil)
	ws := open(t, workspace.Capabilities{
		Code: f, Declared: workspace.Declaration{Code: &workspace.CodeDeclaration{Languages: []string{"python"}, Stateful: true}},
	}, nil)
	front, err := ws.Front(nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(front, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, dispatch := range []func(context.Context, string, []byte) *tools.Answer{
		func(ctx context.Context, name string, args []byte) *tools.Answer {
			return ws.Dispatch(ctx, name, args, nil)
		},
		func(ctx context.Context, name string, args []byte) *tools.Answer {
			return set.Dispatch(ctx, name, args, nil)
		},
	} {
		a := dispatch(t.Context(), "workspace__demo__run_in_code_context", []byte(`{"contextId":"`+string(id)+`","code":"x"}`))
		if a.Failure == nil || a.Failure.Code != "context_not_found" || a.Result != nil {
			t.Errorf("got %s", a.Text)
		}
		a = dispatch(t.Context(), "workspace__demo__create_code_context", []byte(`{"language":"sh"}`))
		if a.Failure == nil || a.Failure.Code != "unsupported_language" {
			t.Errorf("got %s", a.Text)
		}
	}
}
