package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/internal/goldentest"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

// A fakeShell knows "echo", "fail", and "cat", which ends with its input or a
// signal.
type fakeShell struct{ codeinterp.CodeInterpreter }

func (fakeShell) Describe() codeinterp.Info {
	return codeinterp.Info{
		Workdir: "/workspace", Isolation: codeinterp.Isolation{Network: codeinterp.ReachBlocked, Filesystem: codeinterp.ReachLimited},
		Languages: []codeinterp.LanguageInfo{
			{Name: "javascript", Runtime: "Node.js 20.1.0", Path: "/usr/bin/node"},
			{Name: "julia", Runtime: "Julia, in a kernel"},
			{Name: "python", Runtime: "CPython 3.12.1", Path: "/usr/bin/python3"},
			{Name: "typescript", Runtime: "Node.js 20.1.0 (types erased)", Path: "/usr/bin/node"},
		},
	}
}

func (fakeShell) RunCommand(ctx context.Context, command string, o *codeinterp.CommandOptions) (codeinterp.Result, error) {
	res := codeinterp.Result{Status: codeinterp.StatusOK, Duration: 1}
	print := func(kind codeinterp.Kind, text string) {
		out := codeinterp.Output{Kind: kind, Data: []byte(text)}
		res.Outputs = append(res.Outputs, out)
		if o.OnOutput != nil {
			_ = o.OnOutput(out)
		}
	}
	verb, rest, _ := strings.Cut(command, " ")
	switch verb {
	case "echo":
		print(codeinterp.Stdout, rest+"\n")
		print(codeinterp.Stderr, "in "+o.Cwd+"\n")
		if o.Stdin != nil {
			print(codeinterp.Stdout, string(o.Stdin))
		}
		if o.Input != nil {
			o.Input.Read(nil)
		}
	case "fail":
		res.Status, res.ExitCode = codeinterp.StatusError, 3
	case "cat":
		got := make(chan []byte)
		go func() {
			buf := make([]byte, 100)
			for {
				n, err := o.Input.Read(buf)
				if err == io.EOF {
					close(got)
				}
				if err != nil {
					return
				}
				got <- slices.Clone(buf[:n])
			}
		}()
		for {
			select {
			case b, ok := <-got:
				if !ok {
					return res, nil
				}
				print(codeinterp.Stdout, string(b))
			case <-o.Signals:
				res.Status, res.ExitCode = codeinterp.StatusError, 143
				return res, nil
			case <-ctx.Done():
				return codeinterp.Result{Status: codeinterp.StatusCanceled, ExitCode: 130}, context.Cause(ctx)
			}
		}
	}
	return res, nil
}

func shellTools(t testing.TB, opts *tools.Options) *tools.Set {
	t.Helper()
	s, err := shell.New(fakeShell{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	list, err := tools.ForShell("w", s, opts)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var variable = regexp.MustCompile(`"(commandId|started)":"[^"]*"`)

// TestShellTools: the definitions, and the answers, in the
// foreground and in the background.
func TestShellTools(t *testing.T) {
	if list := shellTools(t, nil).Tools(); len(list) != 1 || list[0].Name != "workspace__w__run_command" || list[0].Op != codeinterp.OpCommand {
		t.Errorf("%d tools", len(list))
	}
	var events []string
	secrets, err := secret.New("hunter2-secret")
	if err != nil {
		t.Fatal(err)
	}
	set := watched{shellTools(t, &tools.Options{Background: true, Secrets: secrets}), func(e observe.Event) error {
		events = append(events, fmt.Sprint(e.Op, " ", e.Kind, " ", string(e.Output.Data)))
		return nil
	}}
	for _, tool := range set.Tools() {
		op := strings.TrimPrefix(tool.Name, "workspace__w__")
		goldentest.Check(t, "descriptions/"+op+".txt", []byte(tool.Description+"\n"))
		goldenJSON(t, "shell/"+op+".json", tool.InputSchema)
		goldenJSON(t, "shell/"+op+"_strict.json", tool.StrictSchema)
	}
	id := ""
	for i, step := range []struct {
		op, args string
		text     string // what is in it
	}{
		{"run_command", `{"command":"echo a hunter2-secret","cwd":"src","stdin":"in"}`, "ok\n--- stdout ---\na [secret]"},
		{"run_command", `{"command":"fail"}`, "error, exit code 3"},
		{"start_command", `{"command":"cat hunter2-secret"}`, ""},
		{"command_output", `{"commandId":"ID"}`, "[bytes 0 to 0; the next offset is 0; it is still running]\n"},
		{"command_input", `{"commandId":"ID","input":"b\u001b[1m hunter2-secret\n"}`, `{"bytes":21}`},
		{"command_output", `{"commandId":"ID","waitMs":20000}`, "b [secret]\n"},
		{"list_commands", `{}`, `"running":true`},
		{"stop_command", `{"commandId":"ID"}`, `"exitCode":143`},
		{"command_output", `{"commandId":"ID","offset":-3}`, "it has ended: error, exit code 143]\n"},
	} {
		tool := set.Tools()[slices.IndexFunc(set.Tools(), func(tool tools.Tool) bool { return tool.Name == "workspace__w__"+step.op })]
		a := set.Dispatch(t.Context(), tool.Name, []byte(strings.ReplaceAll(step.args, "ID", id)), nil)
		if a.Failure != nil || !strings.Contains(a.Text, step.text) || strings.Contains(string(a.JSON()), "hunter2") {
			t.Errorf("%s %s:\n%s\nwant\n%s", step.op, step.args, a.Text, step.text)
			continue
		}
		if step.op == "start_command" {
			var j struct{ CommandID string }
			if err := json.Unmarshal(a.JSON(), &j); err != nil {
				t.Fatal(err)
			}
			id = j.CommandID
		}
		goldenJSON(t, fmt.Sprintf("shell/answers/%02d_%s.json", i, step.op), variable.ReplaceAll(a.JSON(), []byte(`"$1":"2026-01-02T03:04:05Z"`)))
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.JSON()))
		if err == nil {
			err = schemaJudge(t, tool.OutputSchema).Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", step.op, err)
		}
	}
	goldentest.Check(t, "shell/events.txt", []byte(strings.Join(events, "\n")+"\n"))
}

func TestShellFaults(t *testing.T) {
	set := shellTools(t, &tools.Options{Background: true})
	for _, tt := range []struct{ op, args, code, says string }{
		{"run_command", `{"cwd":1,"nope":2}`, tools.CodeInvalid, "3 faults"},
		{"run_command", `{"command":"  "}`, tools.CodeInvalid, "empty command"},
		{"run_command", `{"command":"x","timeoutMs":0}`, tools.CodeInvalid, "timeoutMs"},
		{"command_output", `{"commandId":"x"}`, tools.CodeCommand, "list those"},
		{"stop_command", `{"commandId":"x"}`, tools.CodeCommand, "list those"},
		{"command_input", `{"commandId":"x","input":""}`, tools.CodeCommand, ""},
	} {
		a := set.Dispatch(t.Context(), "workspace__w__"+tt.op, []byte(tt.args), nil)
		if a.Failure == nil || a.Failure.Code != tt.code || !strings.Contains(a.Text, tt.says) {
			t.Errorf("%s %s: %s", tt.op, tt.args, a.Text)
		}
	}
}

// TestShellOwners: one client does not see the commands of another.
func TestShellOwners(t *testing.T) {
	set := shellTools(t, &tools.Options{Background: true})
	a := set.Dispatch(callers.With(t.Context(), "a"), "workspace__w__start_command", []byte(`{"command":"cat"}`), nil)
	if a.Failure != nil {
		t.Fatal(a.Text)
	}
	b := set.Dispatch(callers.With(t.Context(), "b"), "workspace__w__list_commands", nil, nil)
	if b.Text != `{"commands":[]}` {
		t.Error(b.Text)
	}
	b = set.Dispatch(callers.With(t.Context(), "b"), "workspace__w__stop_command", a.JSON(), nil)
	if b.Failure == nil || b.Failure.Code != tools.CodeCommand {
		t.Error(b.Text)
	}
}
