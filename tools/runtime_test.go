package tools

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestRuntimeIsNamed: descriptions say which interpreter a language has, and
// with what, in the description and when a module is missing.
func TestRuntimeIsNamed(t *testing.T) {
	f := facts{info: codeinterp.Info{Languages: []codeinterp.LanguageInfo{
		{Name: "python", Runtime: "CPython 3.11.7", Path: "/opt/env/bin/python3", Packages: []string{"numpy 2.1.0", "six 1.17.0"}},
		{Name: "awk", Path: "/usr/bin/awk"},
	}}}
	want := "Languages:\n- python: CPython 3.11.7 (/opt/env/bin/python3). Installed: numpy 2.1.0, six 1.17.0.\n- awk: /usr/bin/awk."
	if got := f.languages([]string{"python", "awk"}); got != want {
		t.Errorf("the description says %q", got)
	}
	want = `The module "pandas" is not installed here. This is CPython 3.11.7 (/opt/env/bin/python3), with numpy 2.1.0, six 1.17.0. Do without it, or with what the runtime has.`
	if got := f.missingModule("pandas", "python"); got != want {
		t.Errorf("the hint says %q", got)
	}
}

// TestLostFiles: where a run's directory is deleted with it, run_code says so, and what
// runs in a context, whose files stay, does not.
func TestLostFiles(t *testing.T) {
	const lost = "Programs start in the directory /workspace; files in it are gone after the call."
	for _, tt := range []struct {
		info       codeinterp.Info
		run        []string
		inContexts string
	}{
		{codeinterp.Info{Workdir: "/workspace", PrivateDir: true}, []string{"no variables, imports, functions or files of", lost}, "save files there"},
		{codeinterp.Info{PrivateDir: true}, []string{"no variables, imports, functions or files of"}, ""},
		{codeinterp.Info{Workdir: "/srv"}, []string{"no variables, imports or functions of", "save files there"}, "save files there"},
	} {
		o, err := (*Options)(nil).complete("w")
		if err != nil {
			t.Fatal(err)
		}
		o.Namer = func(_, op string) string { return op }
		f := newFacts(tt.info, &kit{Options: o})
		run, inContext := f.describe("run_code"), f.describe("run_in_code_context")
		for _, want := range tt.run {
			if !strings.Contains(run, want) {
				t.Errorf("%+v: run_code lacks %q: %s", tt.info, want, run)
			}
		}
		if !strings.Contains(inContext, tt.inContexts) || strings.Contains(inContext, "gone after the call") {
			t.Errorf("%+v: run_in_code_context says %s", tt.info, inContext)
		}
	}
}
