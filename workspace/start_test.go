package workspace_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
	"github.com/toolcell/toolcell/workspace"
)

// TestStartAfterApproval: the start of a run comes once it was approved, with the
// code, scrubbed; a run that was refused has no start.
func TestStartAfterApproval(t *testing.T) {
	secrets, err := secret.New("hunter2hunter2")
	if err != nil {
		t.Fatal(err)
	}
	code, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	ask := func(_ context.Context, c codeinterp.Call) error {
		order = append(order, "ask")
		if strings.Contains(c.Code, "no") {
			return errors.New("no")
		}
		return nil
	}
	ws := open(t, workspace.Capabilities{Code: codeinterp.Wrap(code, codeinterp.Approve(ask))}, &workspace.Options{Tools: tools.Options{Secrets: secrets}})
	defer ws.Subscribe(func(e workspace.Event) {
		order = append(order, strings.TrimPrefix(e.Type, "workspace_code_")+" "+e.Code)
	}, nil)()
	for _, program := range []string{"'hunter2hunter2'.length", "no"} {
		ws.Dispatch(t.Context(), "workspace__demo__run_code", []byte(`{"language":"javascript","code":"`+program+`"}`), nil)
		if _, err := ws.Code().RunCode(t.Context(), "javascript", program, nil); (err != nil) != (program == "no") {
			t.Error(err)
		}
	}
	run := "ask|start '[secret]'.length|output |end |"
	if got, want := strings.Join(order, "|"), run+run+"ask|end |ask|end "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
