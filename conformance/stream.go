package conformance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func streamChecks() []check {
	return []check{
		{
			name: "StdoutExact", scope: everyRun,
			clause: "standard output arrives byte by byte: nothing added, nothing trimmed, nothing translated",
			run: func(ctx context.Context, e *env) error {
				return e.exact(ctx, func(s string) string { return e.p.Print(s) }, codeinterp.Stdout)
			},
		},
		{
			name: "StreamsApart", row: 21, scope: everyRun,
			clause: "the two streams stay apart, and outputs that are apart in time keep their order",
			run:    streamsApart,
		},
		{
			name: "BinaryExact", scope: everyRun, needs: []Feature{BinaryOutput}, proves: BinaryOutput, uses: func(p *Programs) bool { return p.Bytes != "" },
			clause: "streams carry raw bytes, also those that are no UTF-8",
			run: func(ctx context.Context, e *env) error {
				out := need(e.stdout(ctx, e.p.Bytes, nil))
				return wantText("stdout", out, allBytes())
			},
		},
	}
}

// exact prints texts of every kind and compares.
func (e *env) exact(ctx context.Context, print func(string) string, kind codeinterp.Kind) error {
	for _, text := range []string{
		"hello\n",
		"no newline",
		"  spaces \t\n\n\n",
		"\r\n\rcarriage\r",
		"é 日本語 🙂 \u2028 \ufeff",
		"'quotes' \"double\" \\back\\ $HOME `id` %d %s",
		"control \x00\x01\x1b[31mred\x1b[0m\x7f",
		strings.Repeat("long line without an end ", 1000),
	} {
		if e.s.cfg.lacks(BinaryOutput, e.language) {
			text = strings.ReplaceAll(text, "\x00", "")
		}
		res, err := e.run(ctx, print(text), &codeinterp.RunOptions{})
		must(wantOK(res, err))
		out, other := res.Stdout(), res.Stderr()
		if kind == codeinterp.Stderr {
			out, other = other, out
		}
		must(wantText(kind.String(), out, text))
		if other != "" {
			return fmt.Errorf("the other stream has %s, want nothing", quote(other))
		}
	}
	return nil
}

func streamsApart(ctx context.Context, e *env) error {
	pause := e.p.Pause(150 * time.Millisecond)
	code := lines(e.p.Print("o1"), pause, e.p.PrintErr("e1"), pause, e.p.Print("o2"), e.p.Print("o3"), pause, e.p.PrintErr("e2"))
	res, err := e.run(ctx, code, &codeinterp.RunOptions{})
	must(wantOK(res, err))
	var got []string
	for _, o := range res.Outputs {
		got = append(got, o.Kind.String()+" "+string(o.Data))
	}
	return wantText("outputs", strings.Join(got, ", "), "stdout o1, stderr e1, stdout o2o3, stderr e2")
}

// appendLine appends a line of Programs.Lines.
func appendLine(b []byte, i int) []byte {
	for d := 1_000_000; d > 0; d /= 10 {
		b = append(b, '0'+byte(i/d%10))
	}
	return append(b, '\n')
}

// wantLines wants the output of Programs.Lines.
func wantLines(out string, n int) error {
	if len(out) != 8*n {
		return fmt.Errorf("%d bytes %s, want %d", len(out), quote(out), 8*n)
	}
	var line []byte
	for i := range n {
		line = appendLine(line[:0], i)
		if got := out[8*i : 8*i+8]; got != string(line) {
			return fmt.Errorf("line %d is %q", i, got)
		}
	}
	return nil
}
