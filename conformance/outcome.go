package conformance

import (
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func outcomeChecks() []check {
	return []check{
		{
			name: "ExitCode", row: 16, scope: everyRun, uses: func(p *Programs) bool { return p.Exit != nil },
			clause: "a program that exits with code N, not 0, is StatusError with exit code N and a nil error",
			run: func(e *env) {
				for _, code := range []int{1, 3, 255} {
					res, err := e.run(lines(e.p.Print("before"), e.p.Exit(code), e.p.Print("after")), nil)
					wantStatus(res, err, codeinterp.StatusError, code)
					wantText("stdout", res.Stdout(), "before")
				}
			},
		},
		{
			name: "SyntaxError", row: 16, scope: everyRun, uses: func(p *Programs) bool { return p.SyntaxError != "" },
			clause: "a syntax error is StatusError; in a language with exceptions 1, with an Error, and no part of the program runs",
			run: func(e *env) {
				code := lines(e.p.Print("ran"), e.p.SyntaxError)
				// A language without exceptions, such as bash, has an exit code of its
				// own for this, and may run the lines before.
				if e.p.Fail != nil {
					res := e.fails(code)
					wantText("stdout", res.Stdout(), "")
				} else if res, err := e.run(code, nil); err != nil || res.Status != codeinterp.StatusError {
					failf("%s, error %v, want %q", describe(res), err, codeinterp.StatusError)
				}
			},
		},
		{
			name: "Recursion", row: 16, scope: everyRun, uses: func(p *Programs) bool { return p.Recurse != "" },
			clause: "endless recursion is an error or the loss of the process, and the interpreter goes on",
			run: func(e *env) {
				res, err := e.run(e.p.Recurse, &codeinterp.RunOptions{Timeout: time.Minute})
				if err != nil || res.Status != codeinterp.StatusError && res.Status != codeinterp.StatusLost {
					failf("%s, error %v; want %q or %q and no error", describe(res), err, codeinterp.StatusError, codeinterp.StatusLost)
				}
				e.prints("the next run", e.p.Print("next"), "next", nil)
			},
		},
		{
			name: "KilledBySignal", row: 7, scope: everyRun, needs: []Feature{Processes}, proves: Processes, uses: func(p *Programs) bool { return p.KillSelf != "" },
			clause: "a process that dies by a signal is StatusLost, 128 + signal, with a nil error and the output before that",
			run: func(e *env) {
				res, err := e.run(lines(e.p.Print("before"), e.p.Pause(150*time.Millisecond), e.p.KillSelf), nil)
				wantStatus(res, err, codeinterp.StatusLost, codeinterp.ExitKilled)
				wantText("stdout", res.Stdout(), "before")
				if res.Cause == "" {
					failf("no Cause")
				}
				e.prints("the next run", e.p.Print("next"), "next", nil)
			},
		},
	}
}

// fails runs code the group's way, and wants it to end by an error of its own.
func (e *env) fails(code string) codeinterp.Result {
	res, err := e.run(code, nil)
	about("running "+quote(code), func() { wantStatus(res, err, codeinterp.StatusError, 1) })
	if res.Error == nil {
		failf("running %s: no Error", quote(code))
	}
	return res
}

func errorChecks() []check {
	fails := func(p *Programs) bool { return p.Fail != nil }
	return []check{
		{
			name: "UncaughtError", row: 17, scope: everyRun, uses: fails,
			clause: "an uncaught error is StatusError, 1, with the output before it, and Error has its name and message, exactly, and the runtime's own report, line by line, with both",
			run: func(e *env) {
				for _, msg := range []string{"went wrong", "", "日本 \"quoted\" 🙂", "two\nlines", "42"} {
					res := e.fails(lines(e.p.Print("before"), e.p.Fail(msg), e.p.Print("after")))
					wantText("stdout", res.Stdout(), "before")
					if got := res.Error; got.Name != e.p.FailName || got.Message != msg || got.MissingModule != "" {
						failf("Error %+v, want the name %q and the message %q", got, e.p.FailName, msg)
					}
					list := res.Error.Traceback
					text, first := strings.Join(list, "\n"), strings.Split(msg, "\n")[0]
					if !strings.Contains(text, e.p.FailName) || !strings.Contains(text, first) || strings.Count(text, "\n") >= len(list) {
						failf("traceback %q, want it to say %s and %q, line by line", list, e.p.FailName, first)
					}
				}
			},
		},
		{
			name: "ErrorOfAnything", row: 18, scope: everyRun, uses: func(p *Programs) bool { return len(p.Raises) > 0 },
			clause: "whatever a program raises is StatusError, 1, with its name and message",
			run: func(e *env) {
				for _, r := range e.p.Raises {
					if got := e.fails(r.Code).Error; got.Name != r.Name || got.Message != r.Message {
						failf("%q: got Error %+v, want name %q and message %q", r.Code, got, r.Name, r.Message)
					}
				}
			},
		},
		{
			name: "ErrorLine", row: 17, scope: everyRun, needs: []Feature{ErrorLine}, proves: ErrorLine, uses: fails,
			clause: "Line is the line of the program, from 1, where the error happened",
			run: func(e *env) {
				comment := e.p.Comment + "\n"
				for _, lead := range []string{"", comment, strings.Repeat(comment, 7), comment + e.p.Pause(time.Millisecond) + "\n"} {
					if got := e.fails(lead + e.p.Fail("went wrong")).Error; got.Line != strings.Count(lead, "\n")+1 {
						failf("Error %+v, want Line %d", got, strings.Count(lead, "\n")+1)
					}
				}
			},
		},
		{
			name: "MissingModule", row: 17, scope: everyRun, needs: []Feature{MissingModule}, proves: MissingModule, uses: func(p *Programs) bool { return p.MissingModule != nil },
			clause: "MissingModule names the module that could not be imported",
			run: func(e *env) {
				const name = "toolcell_no_such_module"
				wantText("MissingModule", e.fails(e.p.MissingModule(name)).Error.MissingModule, name)
			},
		},
		{
			name: "ModulesStrict", row: 20, scope: stateless, uses: func(p *Programs) bool { return len(p.Strict) > 0 },
			clause: "programs with import or export are strict: an assignment to a name that was not declared, or to a frozen object, is an error",
			run: func(e *env) {
				for _, r := range e.p.Strict {
					wantText(r.Code, e.fails(r.Code).Error.Name, r.Name)
				}
			},
		},
	}
}
