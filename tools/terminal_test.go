package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/goldentest"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/shell/screen"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

// fakeTerminals is a fakeShell with terminals that show what is typed, and end with q.
type fakeTerminals struct{ fakeShell }

func (fakeTerminals) RunTerminal(ctx context.Context, command string, o *codeinterp.TerminalOptions) (codeinterp.Result, error) {
	show := func(text string) { _ = o.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(text)}) }
	show("\x1b[2J\x1b[2;3H" + command + "\r\n")
	b := make([]byte, 100)
	for {
		n, err := o.Input.Read(b)
		if err != nil {
			return codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: 137}, nil
		}
		if string(b[:n]) == "q" {
			return codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 3}, nil
		}
		show(strings.ReplaceAll(string(b[:n]), "\r", "\r\n"))
	}
}

// TestTerminalTools: a model reads a screen, types, and learns how the command ended.
func TestTerminalTools(t *testing.T) {
	secrets, err := secret.New("hunter2-secret")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := shell.New(fakeTerminals{}, &shell.Options{Emulator: screen.New})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		list, err := tools.ForShell("w", s, &tools.Options{Terminals: true, Secrets: secrets, Namer: func(_, op string) string { return op }})
		if err != nil {
			t.Fatal(err)
		}
		set, err := tools.NewSet(list, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list[1:] {
			goldentest.Check(t, "descriptions/"+tool.Name+".txt", []byte(tool.Description+"\n"))
			goldenJSON(t, "shell/"+tool.Name+".json", tool.InputSchema)
		}
		id := ""
		for _, step := range []struct{ op, args, text string }{
			{"start_terminal", `{"command":"edit hunter2-secret","columns":40}`, "[cursor at line 3, column 1; the next offset is 25; it is still running]\n\n  edit [secret]"},
			{"terminal_input", `{"terminalId":"ID","text":"some","keys":"enter"}`, "[cursor at line 4, column 1; the next offset is 31; it is still running]\n\n  edit [secret]\nsome"},
			{"terminal_screen", `{"terminalId":"ID","since":25}`, "[cursor at line 4, column 1; the next offset is 31; it is still running]\nsome\n"},
			{"terminal_input", `{"terminalId":"ID","keys":"no-key"}`, `no-key`},
			{"terminal_input", `{"terminalId":"ID","text":"q","waitMs":30000}`, "it has ended: error, exit code 3]\n\n  edit [secret]\nsome"},
			{"stop_terminal", `{"terminalId":"ID"}`, "it has ended: error, exit code 3]\n\n  edit [secret]"},
			{"terminal_screen", `{"terminalId":"none"}`, "no such command"},
			{"start_terminal", `{"rows":201}`, "rows: need 1 to 200"},
		} {
			a := set.Dispatch(t.Context(), step.op, []byte(strings.ReplaceAll(step.args, "ID", id)), nil)
			if !strings.Contains(a.Text, step.text) || strings.Contains(string(a.JSON()), "hunter2") {
				t.Errorf("%s %s:\n%s\nwant\n%s", step.op, step.args, a.Text, step.text)
			}
			if a.Failure != nil {
				continue
			}
			var j struct{ TerminalID string }
			if err := json.Unmarshal(a.JSON(), &j); err != nil || id != "" && j.TerminalID != id {
				t.Fatalf("%s answers for %q, %v", step.op, j.TerminalID, err)
			}
			id = j.TerminalID
			tool := list[slices.IndexFunc(list, func(tool tools.Tool) bool { return tool.Name == step.op })]
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.JSON()))
			if err == nil {
				err = schemaJudge(t, tool.OutputSchema).Validate(doc)
			}
			if err != nil {
				t.Errorf("%s: %v", step.op, err)
			}
		}
	})
	if list := shellTools(t, &tools.Options{Terminals: true}).Tools(); len(list) != 1 {
		t.Errorf("a shell without terminals has %d tools", len(list))
	}
}
