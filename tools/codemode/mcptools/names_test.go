package mcptools

import (
	"slices"
	"testing"
)

// TestPrefixes: names of tools tell servers apart, whatever the servers are called
// and whichever of them are there.
func TestPrefixes(t *testing.T) {
	for _, tt := range []struct{ servers, want []string }{
		{[]string{""}, []string{""}},
		{[]string{"github", "time"}, []string{"github_", "time_"}},
		{[]string{"a", "a_b", "c"}, []string{"a__", "a_b__", "c_"}},
		{[]string{"a", "a__b", "a-b"}, []string{"a__", "a_b__", "a_b_2__"}},
		{[]string{"x", "日本", "é"}, []string{"x_", "t__", "t_2__"}},
	} {
		var list []Server
		for _, name := range tt.servers {
			list = append(list, Server{Name: name})
		}
		if got := prefixes(list); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.servers, got, tt.want)
		}
	}
	of := prefixes([]Server{{Name: "a"}, {Name: "a_b"}})
	if first, second := newNames().of(of[0], "b_c"), newNames().of(of[1], "c"); first == second {
		t.Errorf("a's b_c and a_b's c are both %s", first)
	}
}

// FuzzPrefixes: no two servers can have a tool of the same name.
func FuzzPrefixes(f *testing.F) {
	f.Add("a", "a_b", "b_c", "c")
	f.Add("a", "a_", "_x", "x")
	f.Add("a_", "a", "b__x", "x")
	f.Add("日", "本", "a", "a")
	f.Fuzz(func(t *testing.T, a, b, toolA, toolB string) {
		if a == "" || b == "" || a == b || len(toolA)+len(toolB) > 40 {
			return // Open refuses it, or names are cut
		}
		of := prefixes([]Server{{Name: a}, {Name: b}})
		first, second := newNames().of(of[0], toolA), newNames().of(of[1], toolB)
		if first == second {
			t.Errorf("%q of %q and %q of %q are both %s", toolA, a, toolB, b, first)
		}
	})
}
