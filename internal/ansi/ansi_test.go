package ansi_test

import (
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
