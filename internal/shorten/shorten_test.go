package shorten_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcell/toolcell/internal/shorten"
)

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		s, want string
		lost    int64
	}{
		{"short", "short", 0},
		{"no \xff text", "no \uFFFD text", 0},
		{strings.Repeat("x", 200), strings.Repeat("x", 200), 0},
		{strings.Repeat("x", 150) + strings.Repeat("y", 150), strings.Repeat("x", 50) + "\n[200 bytes are left out]\n" + strings.Repeat("y", 50), 200},
	} {
		if got, lost := shorten.Middle(c.s, 200); got != c.want || lost != c.lost {
			t.Errorf("%q: %q, %d", c.s, got, lost)
		}
	}
	if got, _ := shorten.Middle([]byte(strings.Repeat("é", 301)), 201); !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"aé", 2, "a..."}, {"é", 1, "..."}} {
		if got := shorten.Head(c.s, c.n); got != c.want {
			t.Errorf("%q to %d: %q", c.s, c.n, got)
		}
	}
}
