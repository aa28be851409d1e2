package tools_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/tools"
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
	for _, line := range []string{"---", "------", "--- a", "a ---", "-- a --", "---a ---", "x --- a ---"} {
		if r := run(t, ok(out(line+"\n")), nil); strings.Contains(r.Text, "\\") {
			t.Errorf("%q is taken for a heading: %q", line, r.Text)
		}
	}
}

// TestLikeNotes: no line of a program passes for one that stands in place of an image
// or of what was left out, nor for that on a page.
func TestLikeNotes(t *testing.T) {
	for _, line := range []string{
		"[image 1]", " [image 12]\u200b", "[Image\u00a01]", "[... 5 bytes left out ...]", "[... 5 bytes, 2 lines left out ...]",
		"[image/png, 12 bytes: left out, at most 4 images are shown]", "[further displays that cannot be shown are left out]", "[a value without a text]",
	} {
		if r := run(t, ok(out("a\n"+line+"\nb\n")), nil); !strings.Contains(r.Text, "a\n\\"+line+"\n") {
			t.Errorf("%q: %q", line, r.Text)
		}
	}
	for _, line := range []string{"[1, 2]", "[image]", "[INFO] image 1", "[]", "['a/b', 5]", "[a/b, 5]", "[...]"} {
		if r := run(t, ok(out(line+"\n")), nil); strings.Contains(r.Text, "\\") {
			t.Errorf("%q is taken for a note: %q", line, r.Text)
		}
	}
	page := tools.Page{Text: "[bytes 0 to 9 of 9; this is its end]\n", Total: 90, NextOffset: 37}
	if text := page.String(); !strings.HasPrefix(text, "[bytes 0 to 37 of 90; the next page starts at offset 37]\n") {
		t.Error(text)
	}
}
