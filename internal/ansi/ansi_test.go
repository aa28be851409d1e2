package ansi_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/ansi"
)

func TestStrip(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "",
		"plain\n":                        "plain\n",
		"\x1b[1;31mred\x1b[0m":           "red",
		"\x1b[38;5;196mred\x1b[m.":       "red.",
		"a\x1b]0;title\x07b":             "ab",
		"a\x1b]8;;http://x\x1b\\b":       "ab",
		"\x1bP1$r\x1b\\x":                "x",
		"\x1b(Bx\x1b=y\x1b7z":            "xyz",
		"x\x1b":                          "x",
		"x\x1b[3":                        "x",
		"x\x1b]0;never ended\nnext":      "x\nnext",
		"x\x1b]0;broken off\x1b[1mbold":  "xbold",
		"x\x1b[1\x00y":                   "x\x00y",
		"\x1b\x1b[31mx":                  "x",
		"é\x1b[1mü":                      "éü",
		strings.Repeat("\x1b[1ma", 1000): strings.Repeat("a", 1000),
	} {
		if got := ansi.Strip(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A line with as many sequences as this took an hour while each looked for the
// line's end.
func TestStripLongLine(t *testing.T) {
	for _, unit := range []string{"\x1b[0m", "\x1b]\x07", "\x1b", "\x1b(B", "\x1b[", "\x1bP"} {
		if got := ansi.Strip(strings.Repeat(unit, 8<<20) + "end\n"); !strings.HasSuffix("end\n", got) {
			t.Errorf("%q: %d bytes are left", unit, len(got))
		}
	}
}

// sequence is what Sequence finds, as one expression: the kinds of sequences, each
// finished, else unfinished.
var sequence = regexp.MustCompile(`(?s)^\x1b(?:(\[[ -?]*[@-~])|\[[ -?]*|` +
	`([\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\))|[\]PX^_][^\x07\x1b\n]*|([ -/]*[0-~])|[ -/]*)`)

func FuzzSequence(f *testing.F) {
	for _, s := range []string{"[1mx", "[1\n", "]0;t\x07", "]0;t\n\x07", "P\x1b\\", "P\x1b\n\\", "^\x1b", "(B", "(\nB", "[\xff", "\n", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := []byte("\x1b" + s)
		m := sequence.FindSubmatchIndex(p)
		want := m[2] >= 0 || m[4] >= 0 || m[6] >= 0
		if n, finished := ansi.Sequence(p); n != m[1] || finished != want {
			t.Fatalf("%q: %d %v, want %d %v", p, n, finished, m[1], want)
		}
	})
}

func FuzzStrip(f *testing.F) {
	for _, s := range []string{"\x1b[1mx", "\x1b]0;t\x07", "\x1b\x1b\x1b", "\x1bP\n\x1b\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := ansi.Strip(s)
		if strings.Contains(got, "\x1b") || strings.Count(got, "\n") != strings.Count(s, "\n") || len(got) > len(s) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
