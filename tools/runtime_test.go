package tools

import (
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
