package jupyter

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// result makes the Result of a run that has ended.
func (r *runner) result(took time.Duration) (codeinterp.Result, error) {
	p := r.e.progress()
	res := codeinterp.Result{Duration: took, ExecutionCount: p.count}
	if p.reply != nil && p.reply.Count > 0 {
		res.ExecutionCount = p.reply.Count
	}
	if r.noIdle || r.gap && !r.whole() || p.answered && r.ended == stopNone && !p.idle {
		r.out.Lost(codeinterp.Truncation{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByConnection})
	}
	if f := p.faultOrReply(); f != nil {
		res.Error = programError(f.Name, f.Value, f.Traceback, res.ExecutionCount)
		if res.Error.Line > 0 && r.k.rt.dialect.skipsBlank {
			res.Error.Line += blankLines(r.code)
		}
	}
	err := r.outcome(&res, p)
	r.out.Finish(&res)
	return res, err
}

// blankLines counts the lines before the first that is not blank.
func blankLines(code string) int {
	n := 0
	for line := range strings.Lines(code) {
		if strings.TrimSpace(line) != "" {
			return n
		}
		n++
	}
	return 0
}

// whole reports whether it is known that nothing is missing.
func (r *runner) whole() bool {
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	return r.k.seen.whole()
}

// faultOrReply is the program's error, as an error message or as the reply
// tells it.
func (p progress) faultOrReply() *errorContent {
	switch {
	case p.fault != nil:
		return p.fault
	case p.reply != nil && p.reply.Status == "error":
		return &errorContent{p.reply.Name, p.reply.Value, p.reply.Traceback}
	}
	return nil
}

// outcome sets status, exit code and cause.
func (r *runner) outcome(res *codeinterp.Result, p progress) error {
	set := func(s codeinterp.Status, code int, cause codeinterp.Cause) {
		res.Status, res.ExitCode, res.Cause = s, code, cause
	}
	switch r.ended {
	case stopTimeout:
		set(codeinterp.StatusTimeout, codeinterp.ExitTimeout, "")
		return r.unstopped()
	case stopCanceled:
		set(codeinterp.StatusCanceled, codeinterp.ExitCanceled, "")
		return context.Cause(r.ctx)
	case stopInterrupt:
		if r.killed || p.death {
			set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseInterrupt)
			return r.unstopped()
		}
		set(codeinterp.StatusError, codeinterp.ExitCanceled, codeinterp.CauseInterrupt)
		return nil
	case stopRestart:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseRestart)
		return r.unstopped()
	case stopDeleted:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed)
		return codeinterp.ErrContext
	case stopClosed:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed)
		return codeinterp.ErrClosed
	case stopServer:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseServer)
		return r.down
	}
	if p.replaced {
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseExit)
		return nil
	}
	if p.death {
		set(codeinterp.StatusLost, codeinterp.ExitKilled, r.deathCause())
		return nil
	}
	r.byItself(res, p)
	return nil
}

// deathCause says why a kernel died that nobody killed, as far as the server
// lets us know.
func (r *runner) deathCause() codeinterp.Cause {
	if r.gap {
		return codeinterp.CauseServer
	}
	return codeinterp.CauseExit
}

// unstopped is the error of a run whose kernel could not be killed.
func (r *runner) unstopped() error {
	if !r.killed || r.killErr == nil {
		return nil
	}
	return fmt.Errorf("the program may still be running, its kernel could not be ended: %w", r.killErr)
}

// byItself is the outcome of a program that ended by itself.
func (r *runner) byItself(res *codeinterp.Result, p progress) {
	if res.Error == nil {
		res.Status, res.ExitCode = codeinterp.StatusOK, 0
		return
	}
	code, exited := 1, false
	if d := r.k.rt.dialect; d.exit != nil {
		code, exited = d.exit(res.Error)
	}
	if exited {
		if code == 0 {
			res.Error = nil
			res.Status, res.ExitCode = codeinterp.StatusOK, 0
			return
		}
		res.Status, res.ExitCode = codeinterp.StatusError, code
		return
	}
	res.Status, res.ExitCode = codeinterp.StatusError, 1
}

// pythonExit reads the exit code of a SystemExit.
func pythonExit(e *codeinterp.ProgramError) (int, bool) {
	if e.Name != "SystemExit" {
		return 1, false
	}
	switch e.Message {
	case "", "None", "False":
		return 0, true
	case "True":
		return 1, true
	}
	n, err := strconv.Atoi(e.Message)
	if err != nil {
		return 1, true
	}
	return n & 0xff, true
}
