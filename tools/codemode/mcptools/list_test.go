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
		{[]string{"a", "a_b", "c"}, []string{"a_", "a_b_", "c_"}},
		{[]string{"a", "a__b", "a-b"}, []string{"a_", "a_b_", "a_b_2_"}},
		{[]string{"x", "日本", "é"}, []string{"x_", "t_", "t_2_"}},
	} {
		var list []Server
		for _, name := range tt.servers {
			list = append(list, Server{Name: name})
		}
		if got := prefixes(list); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.servers, got, tt.want)
		}
	}
	n := newNames()
	if first, second := n.of("a_", "b_c"), n.of("a_b_", "c"); first != "a_b_c" || second != "a_b_c_2" {
		t.Errorf("a's b_c is %s, a_b's c is %s", first, second)
	}
}
