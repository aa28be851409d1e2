package tools_test

import (
	"strings"
	"testing"
)

// TestLikeHeadings: no line of a program passes for a heading, whatever is around it
// that is not seen.
func TestLikeHeadings(t *testing.T) {
	for _, line := range []string{
		"--- error ---", "--- error ---\u00a0", "--- error ---\u200b", " --- error ---", "\ufeff--- error ---",
		"---\u00a0error\u2003---", "--- error ---\u2060\t",
	} {
		if r := run(t, ok(out("a\n"+line+"\nb\n")), nil); !strings.Contains(r.Text, "a\n\\"+line+"\n") {
			t.Errorf("%q: %q", line, r.Text)
		}
	}
	for _, end := range []string{"\u2028", "\u2029"} {
		if r := run(t, ok(out("a"+end+"--- error ---"+end+"b\n")), nil); !strings.Contains(r.Text, "a"+end+"\\--- error ---"+end+"b\n") {
			t.Errorf("%q: %q", end, r.Text)
		}
	}
	for _, line := range []string{"---", "------", "--- a", "a ---", "-- a --", "---a ---", "x --- a ---"} {
		if r := run(t, ok(out(line+"\n")), nil); strings.Contains(r.Text, "\\") {
			t.Errorf("%q is taken for a heading: %q", line, r.Text)
		}
	}
}
