package workspace_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/shell/screen"
	"github.com/toolcell/toolcell/workspace"
)

// A fakeTerminals is a shell with terminals that show their command and end.
type fakeTerminals struct{ fakeShell }

func (fakeTerminals) RunTerminal(_ context.Context, command string, o *codeinterp.TerminalOptions) (codeinterp.Result, error) {
	o.Input.Read(nil)
	_ = o.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(command)})
	return codeinterp.Result{Status: codeinterp.StatusOK}, nil
}

// TestTerminalEvents: a terminal's start, output and end are events of the workspace.
func TestTerminalEvents(t *testing.T) {
	s, err := shell.New(fakeTerminals{fakeShell{newFake("python")}}, &shell.Options{Emulator: screen.New})
	if err != nil {
		t.Fatal(err)
	}
	ws := open(t, workspace.Capabilities{Shell: s}, nil)
	var mu sync.Mutex
	var seen []string
	ws.Subscribe(func(e workspace.Event) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, strings.TrimSpace(e.Type+" "+e.Code+string(e.Output.Data)))
	}, nil)
	id, err := ws.Shell().StartTerminal(t.Context(), "vi", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Shell().Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"workspace_terminal_start vi", "workspace_terminal_output vi", "workspace_terminal_end"}; !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
}
