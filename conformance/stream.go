package conformance

import (
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func streamChecks() []check {
	return []check{
		{
			name: "StdoutExact", scope: everyRun,
			clause: "standard output arrives byte by byte: nothing added, nothing trimmed, nothing translated",
			run:    stdoutExact,
		},
		{
			name: "StreamsApart", row: 21, scope: everyRun,
			clause: "the two streams stay apart, and outputs that are apart in time keep their order",
			run:    streamsApart,
		},
		{
			name: "BinaryExact", scope: everyRun, needs: []Feature{BinaryOutput}, proves: BinaryOutput, uses: func(p *Programs) bool { return p.Bytes != "" },
			clause: "streams carry raw bytes, also those that are no UTF-8",
			run:    func(e *env) { e.prints("stdout", e.p.Bytes, allBytes(), nil) },
		},
	}
}

// streamsApart wants the order of writing where outputs are apart in time. On a busy
// machine the two streams may be read together all the same: it tries again with more
// time between them.
func streamsApart(e *env) {
	const want = "stdout o1, stderr e1, stdout o2o3, stderr e2"
	var got []string
	for apart := 50 * time.Millisecond; apart < 2*time.Second; apart *= 3 {
		pause := e.p.Pause(apart)
		res := e.ok(lines(e.p.Print("o1"), pause, e.p.PrintErr("e1"), pause, e.p.Print("o2"), e.p.Print("o3"), pause, e.p.PrintErr("e2")), &codeinterp.RunOptions{})
		wantText("stdout", res.Stdout(), "o1o2o3")
		wantText("stderr", res.Stderr(), "e1e2")
		got = got[:0]
		for _, o := range res.Outputs {
			got = append(got, o.Kind.String()+" "+string(o.Data))
		}
		if strings.Join(got, ", ") == want {
			return
		}
	}
	failf("outputs %q, want %q", got, want)
}

func stdoutExact(e *env) {
	for _, text := range []string{
		"hello\n",
		"  spaces \t\n\n\n",
		"\r\n\rcarriage\r",
		"é 日本語 🙂 \u2028 \ufeff",
		"'quotes' \"double\" \\back\\ $HOME `id` %d %s",
		"control \x00\x01\x1b[31mred\x1b[0m\x7f",
		strings.Repeat("long line without an end ", 1000),
	} {
		if e.lacks(BinaryOutput) {
			text = strings.ReplaceAll(text, "\x00", "")
		}
		res := e.ok(e.p.Print(text), &codeinterp.RunOptions{})
		wantText("stdout", res.Stdout(), text)
		wantText("stderr", res.Stderr(), "")
	}
}

func callbackChecks() []check {
	return []check{
		{
			name: "CallbackLive", scope: everyRun,
			clause: "OnOutput sees output as it appears, not when the program ends",
			run:    func(e *env) { e.stopAtOutput(e.p.Pause(time.Hour)) },
		},
		{
			name: "CallbackSlow", row: 26, scope: everyRun, uses: func(p *Programs) bool { return p.Lines != nil },
			clause: "a slow OnOutput slows the program down and loses nothing",
			run: func(e *env) {
				const n = 3000
				calls := 0
				var seen strings.Builder
				res := e.ok(e.p.Lines(n), &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
					if calls++; calls <= 20 {
						time.Sleep(10 * time.Millisecond)
					}
					seen.Write(o.Data)
					return nil
				}})
				wantText("what OnOutput saw", seen.String(), numbered(n))
				wantText("stdout", res.Stdout(), numbered(n))
			},
		},
		{
			name: "CallbackError", scope: everyRun,
			clause: "errors of OnOutput are collected in CallbackErr and do not disturb the run",
			run: func(e *env) {
				pause := e.p.Pause(50 * time.Millisecond)
				calls := 0
				res := e.ok(lines(e.p.Print("a"), pause, e.p.PrintErr("b"), pause, e.p.Print("c")), &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
					calls++
					return errStop
				}})
				if res.CallbackErr == nil || !strings.Contains(res.CallbackErr.Error(), errStop.Error()) || calls < 3 || res.Stdout() != "ac" || res.Stderr() != "b" {
					failf("%s, CallbackErr %v, %d calls; want stdout \"ac\", stderr \"b\", the callback's error and at least 3 calls", describe(res), res.CallbackErr, calls)
				}
			},
		},
		{
			name: "CallbackBlocksTimeout", row: 11, scope: stateless,
			clause: "a slow OnOutput never delays the timeout: the program ends on time, whatever the callback does",
			run:    callbackBlocksTimeout,
		},
	}
}

// callbackBlocksTimeout blocks the callback beyond the timeout. A program that
// is stopped on time never prints again.
func callbackBlocksTimeout(e *env) {
	timeout := e.timeout(300 * time.Millisecond)
	step := max(300*time.Millisecond, timeout/2) // where runs are slow, so are their ends
	calls := 0
	code := lines(e.p.Print("first"), e.p.Pause(timeout+step), e.p.Print("second"), e.p.Pause(time.Hour))
	start := time.Now()
	res, err := e.run(code, &codeinterp.RunOptions{Timeout: timeout, OnOutput: func(codeinterp.Output) error {
		if calls++; calls == 1 {
			time.Sleep(timeout + 2*step)
		}
		return nil
	}})
	wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
	took := time.Since(start)
	if calls == 0 || strings.Contains(res.Stdout(), "second") || took > timeout+2*step+e.patience() {
		failf("%s after %v and %d calls of an OnOutput that blocked for %v; want the program to end at its timeout of %v", describe(res), took, calls, timeout+2*step, timeout)
	}
}

// numbered is the output of Programs.Lines.
func numbered(n int) string {
	b := make([]byte, 0, 8*n)
	for i := range n {
		b = appendLine(b, i)
	}
	return string(b)
}

// appendLine appends a line of Programs.Lines.
func appendLine(b []byte, i int) []byte {
	for d := 1_000_000; d > 0; d /= 10 {
		b = append(b, '0'+byte(i/d%10))
	}
	return append(b, '\n')
}
