package conformance

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// terminalChecks are about commands on terminals. They concern providers that have
// codeinterp.Terminals.
func terminalChecks() []check {
	return []check{
		{
			name:   "TerminalSize",
			clause: "a terminal has the size that was asked for, and then each new one; sizes that no terminal has are ErrInvalid",
			run: func(e *env) {
				const first, second = "17 61", "30 100"
				r, w := io.Pipe()
				resizes := make(chan codeinterp.TerminalSize)
				o := &codeinterp.TerminalOptions{Size: codeinterp.TerminalSize{Columns: 61, Rows: 17}, Resizes: resizes}
				o.Input = r
				resize := sync.OnceFunc(func() {
					for range 2 { // with the second one the first is in force
						select {
						case resizes <- codeinterp.TerminalSize{Columns: 100, Rows: 30}:
						case <-e.ctx.Done():
						}
					}
					_, _ = io.WriteString(w, "on\r")
				})
				defer r.Close()
				res, ok := e.terminal("stty size; read x; stty size", o, func(text string) {
					if strings.Contains(text, first) {
						go resize()
					}
				})
				if ok && (!strings.Contains(res.Stdout(), first) || !strings.Contains(res.Stdout(), second)) {
					failf("a terminal of %s, then %s, shows %q", first, second, res.Stdout())
				}
				if of, ok := codeinterp.Terminals(e.ci); ok {
					res, err := of.RunTerminal(e.ctx, "stty size", &codeinterp.TerminalOptions{Size: codeinterp.TerminalSize{Rows: -1}})
					wantNotRun(res, err, codeinterp.ErrInvalid)
				}
			},
		},
		{
			name:   "TerminalInput",
			clause: "what is typed is a command's input, and is shown; its exit code is the Result's, and where it reaches its Timeout status timeout",
			run: func(e *env) {
				o := &codeinterp.TerminalOptions{}
				o.Stdin = []byte("some\r")
				res, ok := e.terminal("read x; echo got $x; exit 3", o, nil)
				if !ok {
					return
				}
				wantStatus(res, nil, codeinterp.StatusError, 3)
				if text := res.Stdout(); !strings.Contains(text, "some") || !strings.Contains(text, "got some") {
					failf("a terminal shows %q", text)
				}
				o = &codeinterp.TerminalOptions{}
				o.Timeout = 300 * time.Millisecond
				res, _ = e.terminal("sleep 600", o, nil)
				wantStatus(res, nil, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
			},
		},
	}
}

// terminal runs a command on a terminal, watched, if there are terminals. shown, if set,
// sees all that was shown so far.
func (e *env) terminal(line string, o *codeinterp.TerminalOptions, shown func(string)) (res codeinterp.Result, ok bool) {
	of, ok := codeinterp.Terminals(e.ci)
	if !ok {
		return res, false
	}
	all := ""
	run := o.RunOptions
	run.OnOutput = func(out codeinterp.Output) error {
		if all += string(out.Data); shown != nil {
			shown(all)
		}
		return nil
	}
	return need(e.watch(line, &run, func(run *codeinterp.RunOptions) (codeinterp.Result, error) {
		options := *o
		options.RunOptions = *run
		return of.RunTerminal(e.ctx, line, &options)
	})), true
}
