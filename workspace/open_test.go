package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/workspace"
)

// A farm is a runtime whose states outlive its interpreters. A program is a word that is
// remembered; an empty one prints all.
type farm struct{ states *sync.Map }

type farmState struct {
	ref   codeinterp.Ref
	words []string
}

func (farm) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "farm", Languages: []codeinterp.LanguageInfo{{Name: "words", Contexts: true}}}
}

func (f farm) Start(context.Context, driver.Options) (driver.Session, error) {
	s := &farmState{}
	s.ref = codeinterp.Ref(fmt.Sprintf("farm%p", s))
	f.states.Store(s.ref, s)
	return s, nil
}

func (farm) Close(context.Context) error { return nil }

func (f farm) Attach(_ context.Context, ref codeinterp.Ref, _ func(codeinterp.Output)) (driver.Attached, error) {
	s, ok := f.states.Load(ref)
	if !ok {
		return driver.Attached{}, codeinterp.ErrContext
	}
	return driver.Attached{Session: s.(*farmState), Language: "words"}, nil
}

func (farm) Refer(s driver.Session) (codeinterp.Ref, error) { return s.(*farmState).ref, nil }

func (f farm) Detach(_ context.Context, s driver.Session, _ func() bool) (codeinterp.Ref, error) {
	return f.Refer(s)
}

func (s *farmState) Run(_ context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	p.Begin()
	if p.Code == "" {
		out.Write(codeinterp.Stdout, []byte(strings.Join(s.words, " ")))
	}
	s.words = append(s.words, p.Code)
	return driver.Outcome{}, nil
}

func (*farmState) Interrupt(context.Context) error { return nil }
func (*farmState) Reset(context.Context) error     { return nil }
func (*farmState) Close(context.Context) error     { return nil }

// TestOpen: a workspace that is opened again has its contexts under their ids, says what
// became of each part in its first answer, and numbers events on.
func TestOpen(t *testing.T) {
	states := &sync.Map{}
	caps := func() workspace.Capabilities {
		js, err := inmemory.NewStateful(nil)
		if err != nil {
			t.Fatal(err)
		}
		return workspace.Capabilities{Code: driver.NewStateful(farm{states}, driver.Config{}), Beside: map[string]codeinterp.CodeInterpreter{"script": js}}
	}
	ws := open(t, caps(), nil)
	first, _ := codeinterp.Stateful(ws.Code())
	beside, _ := codeinterp.Stateful(ws.Beside("script"))
	kept, err := first.CreateContext(t.Context(), "words", nil)
	lost, err2 := first.CreateContext(t.Context(), "words", nil)
	empty, err3 := beside.CreateContext(t.Context(), "javascript", nil)
	_, err4 := first.RunInContext(t.Context(), kept, "before", nil)
	ref, err5 := ws.Ref(t.Context())
	text, err6 := json.Marshal(ref)
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	states.Delete(ref.Contexts[1].Ref)
	ref = workspace.Ref{}
	if err := json.Unmarshal(text, &ref); err != nil || ref.Events == 0 || ref.Name != "demo" {
		t.Fatalf("%s, %v", text, err)
	}

	again, parts, err := workspace.Open(t.Context(), ref, caps(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for i, want := range []workspace.State{workspace.Kept, workspace.Empty, workspace.Empty} {
		if parts[i].State != want {
			t.Errorf("%v, want %s", parts[i], want)
		}
	}
	var seq uint64
	defer again.Subscribe(func(e workspace.Event) { seq = e.Seq }, nil)()
	run := func(tool string, id codeinterp.ContextID, code string) string {
		args, err := json.Marshal(map[string]any{"contextId": id, "code": code})
		if err != nil {
			t.Fatal(err)
		}
		return again.Dispatch(t.Context(), "workspace__demo__"+tool, args, nil).Text
	}
	answer := run("run_in_code_context", kept, "")
	for _, want := range []string{"opened again", "Context " + string(kept) + " (words): kept", string(lost) + " (words): started anew", string(empty) + " (javascript): started anew", "before"} {
		if !strings.Contains(answer, want) {
			t.Errorf("the first answer lacks %q:\n%s", want, answer)
		}
	}
	if seq != ref.Events+3 {
		t.Errorf("event %d, and %d before", seq, ref.Events)
	}
	for _, want := range []bool{true, false} {
		answer := run("run_in_code_context", lost, "x")
		if strings.Contains(answer, "opened again") || strings.Contains(answer, "variables of earlier runs are gone") != want {
			t.Errorf("the loss is reported: %t\n%s", !want, answer)
		}
	}
	if second, err := again.Ref(t.Context()); err != nil || second.Contexts[0].ID != kept || second.Contexts[0].Ref != ref.Contexts[0].Ref {
		t.Errorf("%+v, %v", second, err)
	}
	if _, _, err := workspace.Open(t.Context(), workspace.Ref{Version: 2}, caps(), nil); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("another version: %v", err)
	}
}
