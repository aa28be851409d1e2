package conformance

import (
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// presenceChecks are about what the value has, and what Describe says of it.
func presenceChecks() []check {
	return []check{
		{
			name: "ManagerPresent", row: 13, needs: []Feature{Manager}, proves: Manager,
			clause: "a provider that looks after its contexts has ListContexts, RestartContext and InterruptContext",
			run:    func(e *env) { e.manager() },
		},
		{
			name: "DescribeTrue", row: 13,
			clause: "Describe names the provider as its errors do, and lists the languages in the order of Languages",
			run:    describeTrue,
		},
		{
			name: "ContextsDescribed", row: 13,
			clause: "the value has the context methods exactly if the provider keeps state, and a language has contexts exactly where Describe says so; for one without them CreateContext is ErrLanguage",
			run:    contextsDescribed,
		},
		{
			name: "LimitsEnforced", row: 12, scope: everyRun,
			clause: "what is above Info.Limits is ErrInvalid, as are functions for a language whose programs cannot call, and nothing is run",
			run:    limitsEnforced,
		},
	}
}

func describeTrue(e *env) {
	info := codeinterp.Describe(e.ci)
	var names []string
	for _, l := range info.Languages {
		names = append(names, l.Name)
	}
	if want := e.ci.Languages(); !slices.Equal(names, want) {
		failf("Info.Languages %q, and Languages() is %q", names, want)
	}
	_, err := e.ci.RunCode(e.ctx, "no-such-language", "", nil)
	if pe, ok := err.(*codeinterp.Error); !ok || pe.Provider == "" || pe.Provider != info.Provider {
		failf("an error %v, and Info has the Provider %q", err, info.Provider)
	}
}

func contextsDescribed(e *env) {
	st, ok := codeinterp.Stateful(e.ci)
	some := false
	for _, l := range codeinterp.Describe(e.ci).Languages {
		some = some || l.Contexts
		if !ok || l.Contexts && !slices.Contains(e.s.languages, l.Name) {
			continue // a runtime that is not tested may be dear to start
		}
		about("CreateContext in "+l.Name, func() {
			id, err := st.CreateContext(e.ctx, l.Name, nil)
			if !l.Contexts {
				wantContextError(id, err, codeinterp.ErrLanguage)
				return
			}
			must(err)
			must(st.DeleteContext(e.ctx, id))
		})
	}
	if some != ok || ok != e.s.cfg.Stateful {
		failf("Describe says that some language has contexts: %v; the value has them: %v, and Config.Stateful is %v", some, ok, e.s.cfg.Stateful)
	}
}

func limitsEnforced(e *env) {
	limits := codeinterp.Describe(e.ci).Limits
	code := e.p.Print("ran")
	if limits.Timeout > 0 {
		e.refused("a Timeout above the limit", code, &codeinterp.RunOptions{Timeout: limits.Timeout + 1})
	}
	if limits.Output > 0 {
		e.refused("a MaxOutput above the limit", code, &codeinterp.RunOptions{MaxOutput: limits.Output + 1})
	}
	if !e.info().Functions {
		e.refused("functions", code, &codeinterp.RunOptions{Functions: []codeinterp.Function{answering("f", nil)}})
	}
	if limits.Code > 0 && limits.Code < codeinterp.MaxCode {
		e.refused("code above the limit", code+"\n"+strings.Repeat(" ", limits.Code), nil)
	}
}
