package codeinterp_test

import (
	"slices"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// described is a stateful interpreter that says which languages have contexts.
type described struct {
	echoManager
	contexts []bool
}

func (d *described) Describe() codeinterp.Info {
	info := codeinterp.Info{Provider: "echo"}
	for _, has := range d.contexts {
		info.Languages = append(info.Languages, codeinterp.LanguageInfo{Contexts: has})
	}
	return info
}

func TestDescribeContexts(t *testing.T) {
	for _, tt := range []struct {
		name      string
		says      []bool
		want      []bool
		stateless bool
	}{
		{"none", []bool{false, false}, []bool{false, false}, false},
		{"some", []bool{true, false}, []bool{true, false}, false},
		{"hidden", []bool{true, false}, []bool{false, false}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ci := codeinterp.Wrap(&described{contexts: tt.says})
			if tt.stateless {
				ci = codeinterp.Wrap(codeinterp.Stateless(ci))
			}
			var got []bool
			for _, l := range codeinterp.Describe(ci).Languages {
				got = append(got, l.Contexts)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
