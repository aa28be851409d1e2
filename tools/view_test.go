package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// TestText renders Results of all kinds.
func TestText(t *testing.T) {
	value := func(plain string, more ...codeinterp.Representation) codeinterp.Output {
		return codeinterp.Output{Kind: codeinterp.Value, Bundle: append(more, codeinterp.Representation{MIME: "text/plain", Data: []byte(plain)})}
	}
	late := out("from before\n")
	late.Late = true
	for _, tt := range []struct {
		name string
		res  codeinterp.Result
		want string
	}{
		{"nothing", ok(), "ok\nThere was no output.\n"},
		{"order", ok(out("a\n"), errOut("b\n"), out("c\n")), "ok\n--- stdout ---\na\n--- stderr ---\nb\n--- stdout ---\nc\n"},
		{"late", ok(late, out("now\n")), "ok\n--- stdout (came after the end of an earlier run) ---\nfrom before\n--- stdout ---\nnow\n"},
		{"exit code", codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 3}, "error, exit code 3\nThere was no output.\n"},
		{"timeout", codeinterp.Result{Status: codeinterp.StatusTimeout, ExitCode: 124, StateLost: true, Outputs: []codeinterp.Output{out("1\n")}},
			"timeout, exit code 124: stopped because its time was up\nThe variables of earlier runs are gone: the context is empty now.\n--- stdout ---\n1\n"},
		{"lost", codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: 137, Cause: codeinterp.CauseMemory},
			"lost, exit code 137: the process that ran the code is gone: out of memory\nThere was no output.\n"},
		{"error", codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: &codeinterp.ProgramError{Name: "SyntaxError", Message: "oops", Line: 4}},
			"error, exit code 1\n--- error ---\nSyntaxError: oops (line 4)\n"},
		{"html beside an object's name", ok(value("<IPython.core.display.HTML object>", codeinterp.Representation{MIME: "text/html", Data: []byte("<b>x</b>")})),
			"ok\n--- result text/html ---\n<b>x</b>\n"},
		{"svg", ok(display("image/svg+xml", []byte("<svg/>"))), "ok\n--- display image/svg+xml ---\n<svg/>\n"},
		{"figure", ok(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
			{MIME: "image/png", Data: pngOf(t, 2, 2)}, {MIME: "text/plain", Data: []byte("<Figure size 640x480 with 1 Axes>")},
		}}), "ok\n--- display ---\n<Figure size 640x480 with 1 Axes>\n[image 1]\n"},
		{"binary", ok(display("application/pdf", []byte("%PDF"))), "ok\n--- display ---\n[application/pdf, 4 bytes: not shown here, kept for the user]\n"},
		{"terminal", ok(out("\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x00\x08\x7f\n")), "ok\n--- stdout ---\nred link\n"},
		{"progress", ok(errOut("10%\r50%\r\x1b[K100%\nnext 1%\rnext 2%\r")), "ok\nOf stderr, 13 bytes that later ones overwrote are not shown, as on a terminal.\n--- stderr ---\n100%\nnext 2%\n"},
		{"old line ends", ok(out("name,age\rann,30\rbob,25\n")), "ok\n--- stdout ---\nname,age\nann,30\nbob,25\n"},
		{"empty string", ok(codeinterp.Output{Kind: codeinterp.Value, Value: []byte(`""`), Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte{}}}}),
			"ok\n--- result ---\n\"\"\n"},
		{"value without a text", ok(value("")), "ok\n--- result ---\n[a value without a text]\n"},
		{"invisible", ok(out("a\u202eb\U000e0041c\u0085d\n")), "ok\n--- stdout ---\nabcd\n"},
		{"not UTF-8", ok(out("a\xffb\xe2\x82\n")), "ok\n--- stdout ---\na\uFFFDb\uFFFD\uFFFD\n"},
		{"unfinished escape", ok(out("a\x1b[12\nb\x1b]0;never\nc\n")), "ok\n--- stdout ---\na[unfinished control sequence of 4 bytes]\nb[unfinished control sequence of 9 bytes]\nc\n"},
		{"forged heading", ok(out("--- error ---\nx --- a ---\n--- a/file\n--- stderr --- \n")),
			"ok\n--- stdout ---\n\\--- error ---\nx --- a ---\n--- a/file\n\\--- stderr --- \n"},
		{"dropped by the provider", codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{out("a\n"), {Kind: codeinterp.Stdout, Data: []byte("z\n"), Dropped: 100}},
			Truncated: []codeinterp.Truncation{{Stream: "stdout", Bytes: 104, Kept: 4, Reason: codeinterp.TruncatedByLimit}}},
			"ok\n--- stdout ---\na\n[... 100 bytes left out ...]\nz\n"},
		{"broken connection", codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: 137, Cause: codeinterp.CauseServer,
			Truncated: []codeinterp.Truncation{{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByConnection}}},
			"lost, exit code 137: the process that ran the code is gone: the server or the connection to it went away\nNo output arrived.\nSome of stdout may be lost: the connection to the server broke.\n"},
		{"a flood", codeinterp.Result{Status: codeinterp.StatusOK, Truncated: []codeinterp.Truncation{{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByRate}}},
			"ok\nNo output arrived.\nSome of stdout may be lost: it came faster than the server passes on. Print less, or write it to a file.\n"},
		{"more files than are listed", codeinterp.Result{Status: codeinterp.StatusOK, Artifacts: manyFiles(22),
			Truncated: []codeinterp.Truncation{{Stream: "artifacts", Bytes: -1, Files: 5, Reason: codeinterp.TruncatedByLimit}}},
			"ok\nThere was no output.\nFiles written: " + strings.Repeat("a b.csv (7 bytes), ", 19) + "a b.csv (7 bytes) and at least 7 more\n"},
		{"dropped without a trace", codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{out("a\n")},
			Truncated: []codeinterp.Truncation{{Stream: "stderr", Bytes: 50, Reason: codeinterp.TruncatedByLimit}}},
			"ok\nOf stderr, 50 of 50 bytes were not kept.\n--- stdout ---\na\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := run(t, tt.res, nil).Text; got != tt.want {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

// TestArtifactsBounded: what a program writes does not choose how much a model gets
// to read of it, and what is left out is counted.
func TestArtifactsBounded(t *testing.T) {
	long := make([]codeinterp.Artifact, 300)
	for i := range long {
		long[i] = codeinterp.Artifact{Path: strings.Repeat("a", 1000) + strconv.Itoa(i), Size: 1}
	}
	for _, tt := range []struct {
		name         string
		res          codeinterp.Result
		listed, left int
	}{
		{"few", codeinterp.Result{Status: codeinterp.StatusOK, Artifacts: manyFiles(22)}, 22, 0},
		{"many", codeinterp.Result{Status: codeinterp.StatusOK, Artifacts: manyFiles(500)}, 200, 300},
		{"long", codeinterp.Result{Status: codeinterp.StatusOK, Artifacts: long}, 32, 268},
		{"too many for the provider", codeinterp.Result{Status: codeinterp.StatusOK, Artifacts: manyFiles(500),
			Truncated: []codeinterp.Truncation{{Stream: "artifacts", Bytes: 9000, Files: 5, Kept: 3500, Reason: codeinterp.TruncatedByLimit}}}, 200, 305},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got struct {
				Artifacts []struct{}
				Truncated []struct{ Files int }
			}
			if err := json.Unmarshal(run(t, tt.res, nil).JSON(), &got); err != nil {
				t.Fatal(err)
			}
			left := 0
			for _, l := range got.Truncated {
				left += l.Files
			}
			if len(got.Artifacts) != tt.listed || left != tt.left || len(got.Truncated) > 1 {
				t.Errorf("%d listed, %+v left out", len(got.Artifacts), got.Truncated)
			}
		})
	}
}

func manyFiles(n int) []codeinterp.Artifact {
	var list []codeinterp.Artifact
	for range n {
		list = append(list, codeinterp.Artifact{Path: "a\nb.csv", Size: 7})
	}
	return list
}

var marker = regexp.MustCompile(`\[\.\.\. (\d+) bytes(?:, (\d+) lines)? left out \.\.\.\]\n`)

// accounted checks that what is shown of a stream and what the markers count
// make up the whole.
func accounted(t *testing.T, text, whole string) {
	t.Helper()
	shown, bytes, lines := len(marker.ReplaceAllString(text, "")), 0, 0
	for _, m := range marker.FindAllStringSubmatch(text, -1) {
		var b, l int
		fmt.Sscan(m[1], &b)
		fmt.Sscan(m[2], &l)
		bytes += b
		lines += l
	}
	if shown+bytes != len(whole) {
		t.Errorf("%d bytes shown and %d counted of %d", shown, bytes, len(whole))
	}
	shownLines := strings.Count(marker.ReplaceAllString(text, ""), "\n")
	if shownLines+lines != strings.Count(whole, "\n") {
		t.Errorf("%d lines shown and %d counted of %d", shownLines, lines, strings.Count(whole, "\n"))
	}
}

// section returns what stands under a heading.
func section(text, heading string) string {
	_, rest, _ := strings.Cut(text, "--- "+heading+" ---\n")
	body, _, _ := strings.Cut(rest, "\n--- ")
	if body != rest {
		body += "\n"
	}
	return body
}

func lines(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", word, i)
	}
	return b.String()
}

func TestTruncation(t *testing.T) {
	const max = tools.DefaultMaxText
	long, longErr := lines(20_000, "out"), lines(20_000, "err")
	t.Run("head and tail", func(t *testing.T) {
		r := run(t, ok(out(long)), nil)
		body := section(r.Text, "stdout")
		accounted(t, body, long)
		loc := marker.FindStringIndex(body)
		if head := loc[0]; head < max*35/100 || head > max*40/100 {
			t.Errorf("head of %d bytes", head)
		}
		if len(body) > max+100 || len(body) < max-1000 {
			t.Errorf("%d bytes", len(body))
		}
		if body[loc[0]-1] != '\n' || !strings.HasPrefix(body[loc[1]:], "out ") || !strings.HasSuffix(body, "out 19999\n") {
			t.Error("not cut at lines")
		}
		if r.OutputID == "" || r.Result.Stdout() != long {
			t.Error("the whole output is not kept")
		}
	})
	t.Run("one line", func(t *testing.T) {
		whole := strings.Repeat("日本語", 20_000)
		body := section(run(t, ok(out(whole)), nil).Text, "stdout")
		if !utf8.ValidString(body) || strings.ContainsRune(body, utf8.RuneError) {
			t.Error("a character is cut")
		}
		shown := marker.ReplaceAllString(body, "")
		m := marker.FindStringSubmatch(body)
		var gone int
		fmt.Sscan(m[1], &gone)
		if n := len(strings.ReplaceAll(shown, "\n", "")); n+gone != len(whole) {
			t.Errorf("%d + %d of %d", n, gone, len(whole))
		}
	})
	t.Run("shares", func(t *testing.T) {
		res := ok(out(long), errOut(longErr))
		res.Status, res.ExitCode = codeinterp.StatusError, 1
		res.Error = &codeinterp.ProgramError{Name: "ValueError", Message: "the end", Traceback: strings.Split(lines(5000, "frame"), "\n")}
		text := run(t, res, nil).Text
		accounted(t, section(text, "stdout"), long)
		accounted(t, section(text, "stderr"), longErr)
		if !strings.HasSuffix(text, "\nValueError: the end\n") {
			t.Errorf("the error is cut: %q", text[len(text)-100:])
		}
		for _, name := range []string{"stdout", "stderr", "error"} {
			if n := len(section(text, name)); n < max/4 || n > max/2 {
				t.Errorf("%s has %d bytes", name, n)
			}
		}
		if len(text) > max+1000 {
			t.Errorf("%d bytes", len(text))
		}
	})
	t.Run("one mark for one loss", func(t *testing.T) {
		r := run(t, codeinterp.Result{
			Status:    codeinterp.StatusOK,
			Outputs:   []codeinterp.Output{out(long), {Kind: codeinterp.Stdout, Data: []byte(long), Dropped: 1 << 20}},
			Truncated: []codeinterp.Truncation{{Stream: "stdout", Bytes: int64(2*len(long) + 1<<20), Kept: int64(2 * len(long)), Reason: codeinterp.TruncatedByLimit}},
		}, nil)
		if n := len(marker.FindAllString(r.Text, -1)); n != 1 {
			t.Errorf("%d markers", n)
		}
		if n := bytes.Count(r.JSON(), []byte(`"reason":"limit"`)); n != 1 {
			t.Errorf("%d truncations", n)
		}
	})
}

// TestAccounts: for outputs of every size and order, what is shown and what the
// markers count make up the whole.
func TestAccounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var outputs []codeinterp.Output
		total, dropped := 0, 0
		for range 1 + r.IntN(8) {
			o := out(lines(r.IntN(1<<r.IntN(9)), "line"))
			if r.IntN(2) == 0 {
				o.Kind = codeinterp.Stderr
			}
			if r.IntN(5) == 0 && len(o.Data) > 0 {
				o.Dropped = int64(r.IntN(1000))
				dropped += int(o.Dropped)
			}
			total += len(o.Data)
			outputs = append(outputs, o)
		}
		text := run(t, ok(outputs...), &tools.Options{MaxText: 1024}).Text
		counted := 0
		for _, m := range marker.FindAllStringSubmatch(text, -1) {
			var b int
			fmt.Sscan(m[1], &b)
			counted += b
		}
		shown := 0
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "line ") {
				shown += len(line)
			}
		}
		if shown+counted != total+dropped || len(text) > 1500 {
			t.Fatalf("%d shown, %d counted of %d and %d dropped, in\n%s\n%s", shown, counted, total, dropped, text, describe(outputs))
		}
	}
}

func describe(outputs []codeinterp.Output) string {
	var b strings.Builder
	for _, o := range outputs {
		fmt.Fprintf(&b, "%s %d bytes, %d dropped before\n", o.Kind, len(o.Data), o.Dropped)
	}
	return b.String()
}

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
