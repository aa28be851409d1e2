//go:build unix

package subprocess

import (
	"regexp"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// endsShell finds what may end a shell with exit code 0 in a program of bash.
var endsShell = regexp.MustCompile(`\b(exit|exec|logout|source|eval)\b|(^|[\s;&|({!])\.\s`)

// setsTrap finds the action and the signals of traps in a program of bash.
var setsTrap = regexp.MustCompile(`\btrap\s+(?:--\s+)?('[^']*'|"[^"]*"|[^\s'"]+)((?:[ \t]+\w+)+)`)

// A shellExits says whether programs of a shell may have left a trap of a signal or an
// error that exits.
type shellExits struct{ traps, exits bool }

func (e *shellExits) note(code string) {
	e.exits = e.exits || strings.Contains(code, "exit")
	if e.traps || !strings.Contains(code, "trap") {
		return
	}
	for _, m := range setsTrap.FindAllStringSubmatch(code, -1) {
		for _, signal := range strings.Fields(m[2]) {
			isExit := signal == "0" || strings.EqualFold(strings.TrimPrefix(signal, "SIG"), "EXIT")
			e.traps = e.traps || !isExit && m[1] != "-" && m[1] != "''" && m[1] != `""`
		}
	}
}

// outcome says how a run of p that is done has ended. once says that the process
// was the program's own.
func (r *run) outcome(p *process, once bool) driver.Outcome {
	o := driver.Outcome{End: r.ended}
	switch end := r.end; {
	case end == nil:
		p.unreported(&o, once, r.prog.Code)
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
// code is its program.
func (p *process) unreported(o *driver.Outcome, once bool, code string) {
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
	// So is a shell, whose exit is a program's own way to end. A trap or a function of an
	// earlier run may have ended one that does not ask for it.
	case p.lang.kind == bashKind && (exit.Code != 0 || endsShell.MatchString(code) && !(p.earlier.traps && p.earlier.exits)):
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
