package tools_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools"
)

// recorder returns a sink that writes a line for each event.
func recorder(lines *[]string) func(observe.Event) error {
	return func(e observe.Event) error {
		line := fmt.Sprintf("%d %s %s %s%s %s", e.Kind, e.CallID, strings.TrimPrefix(e.Tool, "workspace__w__"), e.ContextID, e.Language, e.Output.Data)
		if e.Result != nil {
			line += fmt.Sprintf("%s %d", e.Result.Status, len(e.Result.Outputs))
		}
		if e.Err != nil {
			line += e.Err.Error()
		}
		*lines = append(*lines, strings.TrimSpace(line))
		return nil
	}
}

func TestEvents(t *testing.T) {
	late := out("late")
	late.Late = true
	ci := newManaged()
	ci.script = fixed(ok(late, out("a"), errOut("b")))
	var got []string
	n := 0
	set := watched{newSet(t, ci, &tools.Options{NewID: func() string { n++; return fmt.Sprintf("id-%d", n) }}), recorder(&got)}
	set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: "call"})
	set.Dispatch(t.Context(), "workspace__w__create_code_context", []byte(`{"language":"python"}`), nil)
	live := ""
	set.Dispatch(t.Context(), "workspace__w__run_in_code_context", []byte(`{"contextId":"ctx-1","code":"x"}`), &tools.DispatchOptions{
		OnOutput: func(o codeinterp.Output) error { live += string(o.Data); return nil },
	})
	set.Dispatch(t.Context(), "workspace__w__run_in_code_context", []byte(`{"contextId":"ctx-2","code":"x"}`), nil)
	set.Dispatch(t.Context(), runCode, []byte(`{}`), nil)
	want := []string{
		"1 call run_code python",
		"3 call run_code  late",
		"2 call run_code  a",
		"2 call run_code  b",
		"4 call run_code  ok 0",
		"1 id-2 run_in_code_context ctx-1",
		"3 id-2 run_in_code_context ctx-1 late",
		"2 id-2 run_in_code_context ctx-1 a",
		"2 id-2 run_in_code_context ctx-1 b",
		"4 id-2 run_in_code_context ctx-1 ok 0",
		"1 id-3 run_in_code_context ctx-2",
		"4 id-3 run_in_code_context ctx-2 not_run 0fake: run: no such context",
	}
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], "python late", " late")
	}
	if g := strings.ReplaceAll(strings.Join(got, "\n"), "run_code python ", "run_code  "); g != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", g, strings.Join(want, "\n"))
	}
	if live != "lateab" {
		t.Errorf("live output %q", live)
	}
}

// TestObserve: the middleware reports runs and nothing else, and keeps what the
// interpreter can do.
func TestObserve(t *testing.T) {
	var got []string
	inner := newManaged()
	inner.script = fixed(ok(out("my hunter22")))
	ci := codeinterp.Wrap(inner, observe.Middleware(observe.Options{
		OnEvent: recorder(&got), Secrets: secrets(t, "hunter22").Set(), NewID: func() string { return "id" },
	}))
	s, ok1 := codeinterp.Stateful(ci)
	m, ok2 := codeinterp.Manager(ci)
	if !ok1 || !ok2 {
		t.Fatal("an ability is lost")
	}
	id, err := s.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	own := ""
	res, err := s.RunInContext(t.Context(), id, "x", &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
		own += string(o.Data)
		return errors.New("own fault")
	}})
	if err != nil || res.Stdout() != "my [secret]" || own != "my [secret]" || !strings.Contains(res.CallbackErr.Error(), "own fault") {
		t.Errorf("%q, %q, %v, %v", res.Stdout(), own, err, res.CallbackErr)
	}
	if list, err := m.ListContexts(t.Context()); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if _, err := ci.RunCode(t.Context(), "python", "x", nil); err != nil {
		t.Error(err)
	}
	want := []string{"1 id  ctx-1", "2 id  ctx-1 my [secret]", "4 id  ctx-1 ok 0", "1 id  python", "2 id  python my [secret]", "4 id  python ok 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestNoCallback: without a subscriber, the provider is given no callback.
func TestNoCallback(t *testing.T) {
	ci := &fake{}
	newSet(t, ci, nil).Dispatch(t.Context(), runCode, args("x"), nil)
	if ci.opts[0].OnOutput != nil {
		t.Error("there is a callback")
	}
}

// TestDescriptions: what is not known is not said, and what is, is.
func TestDescriptions(t *testing.T) {
	describe := func(info codeinterp.Info, opts *tools.Options) (string, tools.Annotations) {
		list, err := tools.ForCode("w", &fake{info: &info}, opts)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Description, list[0].Annotations
	}
	text, a := describe(codeinterp.Info{}, &tools.Options{Timeout: -1})
	for _, banned := range []string{"\x00", "{{", "network", "host", "directory", "\n\n\n"} {
		if strings.Contains(text, banned) {
			t.Errorf("%q is in\n%s", banned, text)
		}
	}
	if !strings.Contains(text, "as long as it needs") || !a.Destructive || !a.OpenWorld {
		t.Errorf("%s\n%+v", text, a)
	}
	text, a = describe(codeinterp.Info{Isolation: codeinterp.Isolation{Filesystem: codeinterp.ReachLimited, Network: codeinterp.ReachLimited}}, nil)
	if !strings.Contains(text, "Only some network addresses") || !strings.Contains(text, "Only some files") || !a.Destructive || !a.OpenWorld {
		t.Errorf("%s\n%+v", text, a)
	}
	_, a = describe(codeinterp.Info{Isolation: codeinterp.Isolation{Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked}}, nil)
	if a.Destructive || a.OpenWorld || a.ReadOnly {
		t.Errorf("%+v", a)
	}
}
