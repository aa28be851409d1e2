package tools_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

func TestPresence(t *testing.T) {
	const p = "workspace__w__"
	four := []string{p + "run_code", p + "create_code_context", p + "run_in_code_context", p + "delete_code_context"}
	seven := append(slices.Clone(four), p+"list_code_contexts", p+"restart_code_context", p+"interrupt_code_context")
	for _, tt := range []struct {
		name string
		ci   codeinterp.CodeInterpreter
		opts *tools.Options
		want []string
	}{
		{"stateless", &fake{}, nil, four[:1]},
		{"stateful", statefulFake{&fake{}}, nil, four},
		{"hidden", codeinterp.Stateless(statefulFake{&fake{}}), nil, four[:1]},
		{"wrapped", codeinterp.Wrap(statefulFake{&fake{}}), nil, four},
		{"managed, not asked for", newManaged(), nil, four},
		{"managed", newManaged(), &tools.Options{ManageContexts: true}, seven},
		{"asked for, not managed", statefulFake{&fake{}}, &tools.Options{ManageContexts: true}, four},
		{"forked", forking{newManaged()}, &tools.Options{ForkContexts: true}, append(slices.Clone(four), p+"fork_code_context")},
		{"forked, not asked for", forking{newManaged()}, nil, four},
		{"asked for, no forks", newManaged(), &tools.Options{ForkContexts: true}, four},
		{"paged", &fake{}, &tools.Options{ReadOutput: true}, []string{p + "run_code", p + "read_output"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := tools.ForCode("w", tt.ci, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range list {
				got = append(got, tool.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestContextTools(t *testing.T) {
	ci := newManaged()
	ci.script = fixed(ok(out("hi\n")))
	set := newSet(t, ci, &tools.Options{ManageContexts: true})
	call := func(op, args, want string) {
		t.Helper()
		if got := set.Dispatch(t.Context(), "workspace__w__"+op, []byte(args), nil).Text; got != want {
			t.Errorf("%s %s:\n got %s\nwant %s", op, args, got, want)
		}
	}
	call("create_code_context", `{"language":"py"}`, `{"contextId":"ctx-1"}`)
	call("run_in_code_context", `{"contextId":"ctx-1","code":"1"}`, "ok\n--- stdout ---\nhi\n")
	call("list_code_contexts", `{}`, `{"contexts":[{"contextId":"ctx-1","language":"python","created":"2001-09-09T01:46:40Z"}]}`)
	call("restart_code_context", `{"contextId":"ctx-1"}`, `{"ok":true}`)
	call("interrupt_code_context", `{"contextId":"ctx-1"}`, `{"ok":true}`)
	call("delete_code_context", `{"contextId":"ctx-1"}`, `{"ok":true}`)
	gone := `{"error":{"code":"context_not_found","message":"fake: run: no such context; contexts expire and are deleted; create a new one and run there what it needs"}}`
	call("run_in_code_context", `{"contextId":"ctx-1","code":"1"}`, gone)
	call("delete_code_context", `{"contextId":"ctx-1"}`, strings.Replace(gone, "run:", "delete context:", 1))
	call("list_code_contexts", ``, `{"contexts":[]}`)
}

// A forking interpreter copies contexts of Python.
type forking struct{ managedFake }

func (f forking) Describe() codeinterp.Info {
	info := f.managedFake.Describe()
	info.Languages[1].Forks = true
	return info
}

func (f forking) ForkContext(ctx context.Context, id codeinterp.ContextID) (codeinterp.ContextID, error) {
	if id != "ctx-1" {
		return "", codeinterp.ErrContext
	}
	return f.CreateContext(ctx, "python", nil)
}

// TestForkTool: a context is copied by its id, and what cannot be is a failure.
func TestForkTool(t *testing.T) {
	set := newSet(t, forking{newManaged()}, &tools.Options{ForkContexts: true})
	call := func(op, args, want string) {
		t.Helper()
		if got := set.Dispatch(t.Context(), "workspace__w__"+op, []byte(args), nil).Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s %s:\n got %s\nwant %s", op, args, got, want)
		}
	}
	call("create_code_context", `{"language":"py"}`, `{"contextId":"ctx-1"}`)
	call("fork_code_context", `{"contextId":"ctx-1"}`, `{"contextId":"ctx-2"}`)
	call("fork_code_context", `{"contextId":"ctx-7"}`, `{"error":{"code":"context_not_found"`)
	call("fork_code_context", `{}`, `{"error":{"code":"invalid_arguments"`)
	for _, tool := range set.Tools() {
		if strings.HasSuffix(tool.Name, "fork_code_context") && !strings.HasPrefix(tool.Description, "Copies a context of python:") {
			t.Error(tool.Description)
		}
	}
}

func TestConstruction(t *testing.T) {
	long := strings.Repeat("a", 257)
	for _, tt := range []struct {
		name      string
		workspace string
		opts      *tools.Options
		want      string // in the error; empty: none
	}{
		{"longest", long[1:], nil, ""},
		{"too long", long, nil, "257 bytes"},
		{"empty", "", nil, "is empty"},
		{"user's id", "alice@example.com", nil, ""},
		{"other letters", "Ægir Þór", nil, ""},
		{"line break", "a\nb", nil, "printable"},
		{"not UTF-8", "a\xff", nil, "printable"},
		{"space at the end", "a ", nil, "printable"},
		{"unprefixed", "", &tools.Options{Namer: tools.Unprefixed}, ""},
		{"bad namer", "w", &tools.Options{Namer: func(w, op string) string { return w + "." + op }}, `"w.run_code"`},
		{"long namer", "w", &tools.Options{Namer: func(w, op string) string { return strings.Repeat("x", 64) + op }}, "72 characters"},
		{"text", "w", &tools.Options{MaxText: 10}, "MaxText"},
		{"timeouts", "w", &tools.Options{Timeout: 2, MaxTimeout: 1}, "MaxTimeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tools.ForCode(tt.workspace, &fake{}, tt.opts)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestWorkspacePart: a workspace has any user's id as its name, and the names of its tools
// are valid for every API, always the same, and no other workspace's.
func TestWorkspacePart(t *testing.T) {
	if got := tools.Prefixed("alice@example.com", "run_code"); got != "workspace__alice-example--ff8d9819fc0e12bf__run_code" {
		t.Errorf("got %q", got)
	}
	valid, names := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), map[string]string{}
	for _, workspace := range []string{
		"demo", "a-b_c", strings.Repeat("x", 32), strings.Repeat("x", 33), strings.Repeat("x", 256), "alice@example.com", "alice@example.org",
		"alice.example.com", "Alice@example.com", "alice-example--ff8d9819fc0e12bf", "a__b", "a--b", "a-", "-a", "_", ".", "日本", "日本語", "auth0|5f7c8ec7c33c6c004bbafe82", "a b", "a  b",
	} {
		list, err := tools.ForCode(workspace, &fake{}, &tools.Options{ReadOutput: true})
		if err != nil {
			t.Errorf("%q: %v", workspace, err)
		}
		for _, tool := range list {
			if other, there := names[tool.Name]; there || !valid.MatchString(tool.Name) {
				t.Errorf("%q has the tool %q, and so has %q", workspace, tool.Name, other)
			}
			names[tool.Name] = workspace
		}
	}
}

// TestMissingModule: the result names the module and says what this runtime
// has, in a context too.
func TestMissingModule(t *testing.T) {
	missing := codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: &codeinterp.ProgramError{
		Name: "ModuleNotFoundError", Message: "No module named 'polars'", MissingModule: "polars",
	}}
	const python = `The module "polars" is not installed here. About this runtime: numpy and pandas are installed; install more with pip.`
	const unknown = `The module "polars" is not installed here. Do without it, or with what the runtime has.`
	for _, tt := range []struct {
		name string
		ci   func(*fake) codeinterp.CodeInterpreter
		want string
	}{
		{"managed", func(f *fake) codeinterp.CodeInterpreter { return managedFake{statefulFake{f}} }, python},
		{"language not known", func(f *fake) codeinterp.CodeInterpreter { return statefulFake{f} }, unknown},
	} {
		f := &fake{script: fixed(missing)}
		set := newSet(t, tt.ci(f), nil)
		if r := set.Dispatch(t.Context(), "workspace__w__run_code", []byte(`{"language":"python","code":"x"}`), nil); !strings.Contains(r.Text, python) {
			t.Errorf("%s: %s", tt.name, r.Text)
		}
		set.Dispatch(t.Context(), "workspace__w__create_code_context", []byte(`{"language":"python"}`), nil)
		r := set.Dispatch(t.Context(), "workspace__w__run_in_code_context", []byte(`{"contextId":"ctx-1","code":"x"}`), nil)
		if !strings.Contains(r.Text, tt.want) || !strings.Contains(string(r.JSON()), `"hint":"The module \"polars\"`) {
			t.Errorf("%s: %s", tt.name, r.Text)
		}
	}
}
