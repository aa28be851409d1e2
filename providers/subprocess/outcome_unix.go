//go:build unix

package subprocess

import (
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// outcome says how a run of p that is done has ended. once says that the process
// was the program's own.
func (r *run) outcome(p *process, once bool) driver.Outcome {
	o := driver.Outcome{End: r.ended, Refusals: p.place.net.EndRun()}
	switch end := r.end; {
	case end == nil:
		p.unreported(&o, once)
	case end.How == "error", end.How == "gone" && end.Err != nil:
		o.ExitCode, o.Error = max(end.Code, 1), r.prog.Locate(end.Err)
	case end.How == "interrupt":
		o.ExitCode, o.Cause, o.Error = codeinterp.ExitCanceled, codeinterp.CauseInterrupt, r.prog.Locate(end.Err)
	default:
		o.ExitCode = end.Code
	}
	return o
}

// unreported completes the outcome of a run whose process ended without a report.
func (p *process) unreported(o *driver.Outcome, once bool) {
	exit := p.sb.Wait()
	p.mu.Lock()
	broken := p.broken
	p.mu.Unlock()
	o.Lost = true
	switch {
	// A limit that was reached before is why: what holds much memory closes its
	// channel some time before it has ended.
	case broken != nil && (exit.Cause == "" || exit.Cause == codeinterp.CauseSignal):
		o.ExitCode, o.Cause = codeinterp.ExitKilled, codeinterp.CauseExit
		o.Error = &codeinterp.ProgramError{Name: "ProtocolError", Message: broken.Error() + "; its process was killed"}
	// The host has killed it; the driver package knows why.
	case exit.Killed && exit.Cause == "":
		o.ExitCode = codeinterp.ExitKilled
	case exit.Cause != "" || exit.Signal != 0:
		o.ExitCode, o.Cause, o.Error = max(exit.Code, 128), exit.Cause, death(exit)
	// The process is the program: its own exit code decides.
	case once:
		o.ExitCode, o.Lost = exit.Code, false
	// A shell's exit code is the program's own. Of 0 it is not known whether the program has
	// come to its end: a trap or a function of an earlier run may have ended it.
	case p.lang.kind == bashKind && exit.Code != 0:
		o.ExitCode, o.Exited = exit.Code, true
	default:
		o.ExitCode, o.Cause = exit.Code, codeinterp.CauseExit
	}
}

// death is the error of a process that a limit or a signal ended.
func death(exit sandbox.Exit) *codeinterp.ProgramError {
	switch {
	case exit.Detail != "":
		return &codeinterp.ProgramError{Name: "ResourceLimit", Message: exit.Detail}
	case exit.Signal != 0:
		return &codeinterp.ProgramError{Name: "Killed", Message: "the process died: " + exit.Signal.String()}
	}
	return nil
}
