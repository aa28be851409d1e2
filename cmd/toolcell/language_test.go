package main

import (
	"strings"
	"testing"
)

func TestLanguageOf(t *testing.T) {
	for _, tt := range []struct{ file, program, want, fault string }{
		{"a.py", "", "python", ""}, {"dir.d/A.PY", "", "python", ""}, {"a.cts", "", "typescript", ""},
		{"a.py", "#!/bin/bash", "python", ""},
		{"", "#!/bin/bash\necho", "bash", ""}, {"run", "#! /usr/bin/python3.11 -u\n", "python", ""},
		{"run", "#!/usr/bin/env node", "javascript", ""}, {"run", "#!/usr/bin/env -S A=1 tsx --x", "typescript", ""},
		{"run.rb", "#!/usr/bin/env bash", "bash", ""},
		{"", "x = 1", "", ""},
		{"n.ipynb", "{}", "", `"n.ipynb" does not show`}, {"Makefile", "all:", "", `"Makefile" does not show`},
		{"x", "#!/usr/bin/ruby", "", `names "ruby"`}, {"x", "#!", "", `names ""`}, {"x", "#!/usr/bin/env -i", "", `names ""`},
	} {
		got, err := languageOf(tt.file, tt.program)
		if got != tt.want || (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("languageOf(%q, %q) = %q, %v; want %q, %q", tt.file, tt.program, got, err, tt.want, tt.fault)
		}
	}
}

func TestVersion(t *testing.T) {
	code, stdout, _ := toolcell(t.Context(), "", "--version")
	if code != 0 || !strings.HasPrefix(stdout, "toolcell ") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("code %d, %q", code, stdout)
	}
}
