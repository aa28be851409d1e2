package plaintext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcell/toolcell/internal/plaintext"
)

// TestClean (contract row 25): of progress bars the last frame is kept, of all else every
// line.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      "",
		"\r":                                    "",
		"a\r":                                   "a",
		"a\rb":                                  "a\nb",
		"a\r\r\n":                               "a\n",
		"\ra\n\rb":                              "a\nb",
		"a\rb\nc\rd\r\n\re":                     "a\nb\nc\nd\ne",
		"1%\r\x1b[2K2%\r\x1b[2K":                "",
		"1%\r\x1b[2K2%\r\x1b[2K3":               "3",
		"1\r2\r3":                               "3",
		"name,age\rann,30\rbob,25":              "name,age\nann,30\nbob,25",
		"1,2\r3,4\r5,6\r":                       "1,2\n3,4\n5,6",
		"x,1\rx,2\r":                            "x,1\nx,2",
		"first line\rsecond line\rthird line":   "first line\nsecond line\nthird line",
		"same\rsame\rsame":                      "same",
		"- working\r/ working\r| working\rdone": "| working\ndone",
		"Downloading  9.5 MB/s eta 1h2m\rDownloading 10.1 kB/s eta 9s\n":                        "Downloading 10.1 kB/s eta 9s\n",
		"  0%|          | 0/10 [00:00<?, ?it/s]\r 10%|█         | 1/10 [00:00<00:01,  9.9it/s]": " 10%|█         | 1/10 [00:00<00:01,  9.9it/s]",
		"working...\r          \rdone":           "done",
		"\x1b[32m10%\x1b[0m\r\x1b[32m20%\x1b[0m": "20%",
		"x\x1b]0;title that never ends\ny":       "x[unfinished control sequence of 25 bytes]\ny",
		"x\x1b]0;hidden\x1b[1m bold\n":           "x[unfinished control sequence of 10 bytes] bold\n",
		"x\x1bPq":                                "x[unfinished control sequence of 3 bytes]",
		"x\x1b]0;t\x07y\x1b]8;;u\x1b\\z":         "xyz",
		"\x1b[31mred\x1b[0m\a":                   "red",
		"a\xffb\u202e\x00":                       "a\uFFFDb",
	} {
		if got := plaintext.Clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzClean: cleaning keeps lines and plain text, leaves nothing that it
// is there to remove, and finds nothing to do the second time.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\rb\n", "\x1b[1;31mx\x1b[0m", "\x1b]0;t\x07", "\x1bP1\x1b\\", "\xff\xfe", "\u202e\u0085", "\x1b\x1b[", "\xe2\x1b[m\x80\x81"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := plaintext.Clean(in)
		if !utf8.ValidString(got) || strings.Count(got, "\n") < strings.Count(in, "\n") || len(got) > 3*len(in)+50*strings.Count(in, "\x1b") {
			t.Fatalf("%q became %q", in, got)
		}
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e {
				t.Fatalf("%q is left in %q", r, got)
			}
		}
		if again := plaintext.Clean(got); again != got {
			t.Fatalf("%q became %q, and then %q", in, got, again)
		}
		plain := strings.IndexFunc(in, func(r rune) bool { return (r < 0x20 && r != '\n' && r != '\t') || r > 0x7e }) < 0
		if plain && got != in {
			t.Fatalf("plain %q became %q", in, got)
		}
	})
}
