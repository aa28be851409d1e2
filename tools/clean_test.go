package tools_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcell/toolcell/tools"
)

// TestCollapse: what a terminal would show of progress bars is kept.
func TestCollapse(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"\r":                      "",
		"a\r":                     "a",
		"a\rb":                    "b",
		"a\r\r\n":                 "a\n",
		"\ra\n\rb":                "a\nb",
		"a\rb\nc\rd\r\n\re":       "b\nd\ne",
		"1%\r\x1b[2K2%\r\x1b[2K":  "",
		"1%\r\x1b[2K2%\r\x1b[2K3": "3",
		"é\rü":                    "ü",
		"x\ry\x00\rz\n":           "z\n",
	} {
		if got := tools.CleanText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzCleanText: cleaning keeps lines and plain text, leaves nothing that it
// is there to remove, and finds nothing to do the second time.
func FuzzCleanText(f *testing.F) {
	for _, s := range []string{"a\rb\n", "\x1b[1;31mx\x1b[0m", "\x1b]0;t\x07", "\x1bP1\x1b\\", "\xff\xfe", "\u202e\u0085", "\x1b\x1b[", "\xe2\x1b[m\x80\x81"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := tools.CleanText(in)
		if !utf8.ValidString(got) || strings.Count(got, "\n") != strings.Count(in, "\n") || len(got) > 3*len(in) {
			t.Fatalf("%q became %q", in, got)
		}
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e {
				t.Fatalf("%q is left in %q", r, got)
			}
		}
		if again := tools.CleanText(got); again != got {
			t.Fatalf("%q became %q, and then %q", in, got, again)
		}
		plain := strings.IndexFunc(in, func(r rune) bool { return (r < 0x20 && r != '\n' && r != '\t') || r > 0x7e }) < 0
		if plain && got != in {
			t.Fatalf("plain %q became %q", in, got)
		}
	})
}
