package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

// capabilities are the optional groups of methods.
var capabilities = []struct {
	name    string
	methods []string
	has     func(codeinterp.CodeInterpreter) bool
}{
	{"StatefulInterpreter", []string{"CreateContext", "RunInContext", "DeleteContext"}, hasContexts},
	{"ContextManager", []string{"ListContexts", "RestartContext", "InterruptContext"}, hasManager},
	{"ContextFiles", []string{"OpenFiles"}, hasFiles},
	{"Completer", []string{"Complete"}, hasCompletions},
	{"Commander", []string{"RunCommand"}, hasCommands},
	{"Describer", []string{"Describe"}, hasDescribe},
}

func hasContexts(ci codeinterp.CodeInterpreter) bool {
	_, ok := codeinterp.Stateful(ci)
	return ok
}

func hasManager(ci codeinterp.CodeInterpreter) bool {
	_, ok := codeinterp.Manager(ci)
	return ok
}

func hasCommands(ci codeinterp.CodeInterpreter) bool {
	_, ok := codeinterp.Commands(ci)
	return ok
}

func hasDescribe(ci codeinterp.CodeInterpreter) bool {
	_, ok := ci.(codeinterp.Describer)
	return ok
}

func presenceChecks() []check {
	return []check{
		{
			name: "StatefulPresent", row: 13,
			clause: "the value has the context methods exactly if the provider keeps state",
			run: func(ctx context.Context, e *env) error {
				if got := hasContexts(e.ci); got != e.s.cfg.Stateful {
					return fmt.Errorf("%T: stateful = %v, and Config.Stateful is %v", e.ci, got, e.s.cfg.Stateful)
				}
				return nil
			},
		},
		{
			name: "ManagerPresent", row: 13, needs: []Feature{Manager}, proves: Manager,
			clause: "a provider that looks after its contexts has ListContexts, RestartContext and InterruptContext",
			run: func(ctx context.Context, e *env) error {
				if !hasManager(e.ci) {
					return fmt.Errorf("%T is no ContextManager", e.ci)
				}
				return nil
			},
		},
		{
			name: "NoStrayMethods", row: 13,
			clause: "the methods of a capability are all there with the right signatures, or none is there",
			run:    func(ctx context.Context, e *env) error { return strayMethods(e.ci) },
		},
		{
			name: "DescribeTrue", row: 13, needs: []Feature{Describer}, proves: Describer,
			clause: "Describe names the provider as its errors do, lists the languages in the order of Languages, and says the same each time",
			run: func(ctx context.Context, e *env) error {
				return describeTrue(e)
			},
		},
	}
}

// strayMethods wants every capability whole or absent.
func strayMethods(ci codeinterp.CodeInterpreter) error {
	for _, c := range capabilities {
		if c.has(ci) {
			continue
		}
		for _, name := range c.methods {
			if m := reflect.ValueOf(ci).MethodByName(name); m.IsValid() {
				return fmt.Errorf("%T has a stray %s %v and is no %s", ci, name, m.Type(), c.name)
			}
		}
	}
	return nil
}

func describeTrue(e *env) error {
	info := codeinterp.Describe(e.ci)
	if info.Provider == "" {
		return errors.New("an Info without a Provider")
	}
	var names []string
	for _, l := range info.Languages {
		names = append(names, l.Name)
	}
	if want := e.ci.Languages(); !slices.Equal(names, want) {
		return fmt.Errorf("Info.Languages %q, and Languages() is %q", names, want)
	}
	if again := codeinterp.Describe(e.ci); !reflect.DeepEqual(info, again) {
		return fmt.Errorf("first Describe says %+v, then %+v", info, again)
	}
	_, err := e.ci.RunCode(context.Background(), "no-such-language", "", nil)
	if pe, ok := errors.AsType[*codeinterp.Error](err); ok && pe.Provider != info.Provider {
		return fmt.Errorf("an Error with Provider %q, and Info has %q", pe.Provider, info.Provider)
	}
	iso := info.Isolation
	reaches := []codeinterp.Reach{codeinterp.ReachUnknown, codeinterp.ReachOpen, codeinterp.ReachLimited, codeinterp.ReachBlocked}
	for _, r := range []codeinterp.Reach{iso.Filesystem, iso.Network, iso.Processes, iso.Signals} {
		if !slices.Contains(reaches, r) {
			return fmt.Errorf("an Isolation with a reach %q", r)
		}
	}
	return nil
}
