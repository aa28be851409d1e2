package codeinterp_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// polyglot has contexts in python and bash, and none in awk.
type polyglot struct {
	asked []string // languages and contexts that calls were about
	list  []codeinterp.ContextInfo
}

func (*polyglot) Languages() []string { return []string{"awk", "bash", "python"} }
func (*polyglot) Close() error        { return nil }
func (*polyglot) Describe() codeinterp.Info {
	return codeinterp.Info{Languages: []codeinterp.LanguageInfo{
		{Name: "awk"}, {Name: "bash", Contexts: true}, {Name: "python", Contexts: true, Aliases: []string{"Python 3 (x)"}},
	}}
}

func (p *polyglot) RunCode(_ context.Context, language, _ string, _ *codeinterp.RunOptions) (codeinterp.Result, error) {
	p.asked = append(p.asked, language)
	return codeinterp.Result{Status: codeinterp.StatusOK}, nil
}

func (p *polyglot) CreateContext(_ context.Context, language string, _ *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	p.asked = append(p.asked, language)
	id := codeinterp.ContextID("c-" + language)
	p.list = append(p.list, codeinterp.ContextInfo{ID: id, Language: language})
	return id, nil
}

func (p *polyglot) use(id codeinterp.ContextID) error {
	if !slices.ContainsFunc(p.list, func(i codeinterp.ContextInfo) bool { return i.ID == id }) {
		return codeinterp.ErrContext
	}
	p.asked = append(p.asked, string(id))
	return nil
}

func (p *polyglot) RunInContext(_ context.Context, id codeinterp.ContextID, _ string, _ *codeinterp.RunOptions) (codeinterp.Result, error) {
	if err := p.use(id); err != nil {
		return codeinterp.NotRun(), err
	}
	return codeinterp.Result{Status: codeinterp.StatusOK}, nil
}

func (p *polyglot) DeleteContext(_ context.Context, id codeinterp.ContextID) error { return p.use(id) }

// managedPolyglot can manage its contexts too.
type managedPolyglot struct{ *polyglot }

func (p managedPolyglot) ListContexts(context.Context) ([]codeinterp.ContextInfo, error) {
	return slices.Clone(p.list), nil
}
func (p managedPolyglot) RestartContext(_ context.Context, id codeinterp.ContextID) error {
	return p.use(id)
}
func (p managedPolyglot) InterruptContext(_ context.Context, id codeinterp.ContextID) error {
	return p.use(id)
}

func narrow(t *testing.T, ci codeinterp.CodeInterpreter, o codeinterp.NarrowOptions) codeinterp.CodeInterpreter {
	t.Helper()
	n, err := codeinterp.Narrow(ci, &o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNarrowLanguages(t *testing.T) {
	p := &polyglot{}
	n := narrow(t, p, codeinterp.NarrowOptions{Languages: []string{"python"}, Contexts: true})
	if got := n.Languages(); !slices.Equal(got, []string{"python"}) {
		t.Errorf("languages %v", got)
	}
	if got := codeinterp.Describe(n).Languages; len(got) != 1 || got[0].Name != "python" || !got[0].Contexts {
		t.Errorf("described as %+v", got)
	}
	s, ok := codeinterp.Stateful(n)
	if !ok {
		t.Fatal("contexts are lost")
	}
	for _, name := range []string{"bash", "sh", "awk", "", "fortran"} {
		res, err := n.RunCode(t.Context(), name, "", nil)
		var e *codeinterp.Error
		if !errors.Is(err, codeinterp.ErrLanguage) || !errors.As(err, &e) || res.Status != codeinterp.StatusNotRun || !strings.HasSuffix(err.Error(), "supported: python") {
			t.Errorf("run %q: %v, %v", name, res.Status, err)
		}
		if _, err := s.CreateContext(t.Context(), name, nil); !errors.Is(err, codeinterp.ErrLanguage) {
			t.Errorf("create %q: %v", name, err)
		}
	}
	if len(p.asked) > 0 {
		t.Errorf("the provider was asked for %v", p.asked)
	}
	for _, name := range []string{"python", "PY", "python 3 (X)"} {
		if _, err := n.RunCode(t.Context(), name, "", nil); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if !slices.Equal(p.asked, []string{"python", "python", "python"}) {
		t.Errorf("the provider was asked for %v", p.asked)
	}
}

// TestNarrowForeignContexts: a context of a language that was left out is not
// there, whoever made it.
func TestNarrowForeignContexts(t *testing.T) {
	p := managedPolyglot{&polyglot{}}
	bash, _ := p.CreateContext(t.Context(), "bash", nil)
	python, _ := p.CreateContext(t.Context(), "python", nil)
	p.asked = nil
	ci := codeinterp.Wrap(narrow(t, codeinterp.Wrap(p), codeinterp.NarrowOptions{Languages: []string{"python"}, Contexts: true, Manager: true}))
	s, _ := codeinterp.Stateful(ci)
	m, ok := codeinterp.Manager(ci)
	if !ok {
		t.Fatal("the manager is lost")
	}
	res, err := s.RunInContext(t.Context(), bash, "", nil)
	if !errors.Is(err, codeinterp.ErrContext) || res.Status != codeinterp.StatusNotRun {
		t.Errorf("run: %v, %v", res.Status, err)
	}
	for name, do := range map[string]func(context.Context, codeinterp.ContextID) error{
		"delete": s.DeleteContext, "restart": m.RestartContext, "interrupt": m.InterruptContext,
	} {
		if err := do(t.Context(), bash); !errors.Is(err, codeinterp.ErrContext) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(p.asked) > 0 {
		t.Errorf("the provider was asked for %v", p.asked)
	}
	if _, err := s.RunInContext(t.Context(), python, "", nil); err != nil {
		t.Errorf("the context of a language that is kept: %v", err)
	}
	list, err := m.ListContexts(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != python {
		t.Errorf("list: %+v, %v", list, err)
	}
}

func TestNarrowGroups(t *testing.T) {
	p := managedPolyglot{&polyglot{}}
	for _, tt := range []struct {
		name              string
		o                 codeinterp.NarrowOptions
		stateful, managed bool
	}{
		{"nothing", codeinterp.NarrowOptions{}, false, false},
		{"contexts", codeinterp.NarrowOptions{Contexts: true}, true, false},
		{"manager", codeinterp.NarrowOptions{Contexts: true, Manager: true}, true, true},
		{"manager without contexts", codeinterp.NarrowOptions{Manager: true}, false, false},
		{"a language without contexts", codeinterp.NarrowOptions{Languages: []string{"awk"}, Contexts: true, Manager: true}, false, false},
	} {
		ci := codeinterp.Wrap(narrow(t, codeinterp.Wrap(p), tt.o))
		_, stateful := codeinterp.Stateful(ci)
		_, managed := codeinterp.Manager(ci)
		if stateful != tt.stateful || managed != tt.managed {
			t.Errorf("%s: stateful %v, managed %v", tt.name, stateful, managed)
		}
		for _, l := range codeinterp.Describe(ci).Languages {
			if l.Contexts && (!tt.stateful || l.Name == "awk") {
				t.Errorf("%s: %s is said to have contexts", tt.name, l.Name)
			}
		}
	}
	if _, err := codeinterp.Narrow(p, &codeinterp.NarrowOptions{Languages: []string{"perl"}}); !errors.Is(err, codeinterp.ErrLanguage) {
		t.Errorf("an unknown language: %v", err)
	}
}

func TestNarrowForgetsContexts(t *testing.T) {
	p := &polyglot{}
	s, _ := codeinterp.Stateful(narrow(t, p, codeinterp.NarrowOptions{Languages: []string{"python"}, Contexts: true}))
	id, err := s.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RunInContext(t.Context(), id, "", nil); err != nil {
		t.Error(err)
	}
	if err := s.DeleteContext(t.Context(), id); err != nil {
		t.Error(err)
	}
	if _, err := s.RunInContext(t.Context(), id, "", nil); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("after the delete: %v", err)
	}
}
