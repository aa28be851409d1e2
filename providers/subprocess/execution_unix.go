//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// errRestart and errInterrupt are causes of stopping a run that the run's
// caller is not told as errors.
var (
	errRestart   = errors.New("restarted")
	errInterrupt = errors.New("interrupted")
	errTimeout   = errors.New("timed out")
)

// An execution is one program on its way through one process.
type execution struct {
	p     *process
	opts  *codeinterp.RunOptions
	out   *outbuf.Collector
	prog  *program
	life  context.Context // ends, with its cause, when the run has to
	stop  <-chan struct{} // closed by InterruptContext
	grace time.Duration
	once  bool // the process is only for this program

	why error // why the run was stopped, nil if it ended by itself
}

// run starts the program, waits for its end, whichever way that comes, and
// returns the Result.
func (x *execution) run(ctx context.Context) (codeinterp.Result, error) {
	stdin, err := x.stdin()
	if err != nil {
		return codeinterp.NotRun(), err
	}
	var expired <-chan time.Time
	began := time.Now()
	r, err := x.p.start(x.out, x.prog, stdin, x.opts.Env)
	if err != nil {
		return codeinterp.NotRun(), fmt.Errorf("%w: the process of %s is gone", codeinterp.ErrUnavailable, x.p.lang.Name)
	}
	if x.opts.Timeout > 0 {
		timer := time.NewTimer(x.opts.Timeout)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-r.done:
	case <-expired:
		x.why = errTimeout
	case <-ctx.Done():
		x.why = context.Cause(ctx)
	case <-x.life.Done():
		x.why = context.Cause(x.life)
	case <-x.stop:
		x.why = errInterrupt
	}
	if x.why != nil {
		x.end(r)
	}
	res := x.result(r)
	res.Duration = r.ended.Sub(began)
	x.out.Finish(&res)
	return res, x.fault()
}

// stdin writes the run's standard input where the driver finds it.
func (x *execution) stdin() (string, error) {
	if x.opts.Stdin == nil || x.p.ctl == nil {
		return "", nil
	}
	f, err := os.CreateTemp(x.p.place.dir, ".stdin-")
	if err == nil {
		_, err = f.Write(x.opts.Stdin)
		err = errors.Join(err, f.Chmod(0o444), f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("%w: standard input cannot be handed over", codeinterp.ErrUnavailable)
	}
	return filepath.Join(x.p.inside, filepath.Base(f.Name())), nil
}

// end stops the run: what can be asked to end is asked first, and once more
// after half of the grace, since a process that is just being started can miss
// its signal.
func (x *execution) end(r *run) {
	defer time.AfterFunc(x.grace/2, x.out.Mute).Stop()
	for range 2 {
		if x.ask(r) {
			return
		}
	}
	if x.why == errInterrupt && x.life.Err() != nil {
		x.why = context.Cause(x.life)
	}
	x.p.kill()
	<-r.done
}

// ask interrupts the run and reports whether it has ended by half of the grace.
func (x *execution) ask(r *run) bool {
	if x.life.Err() != nil || x.once {
		return false
	}
	x.p.interrupt(r)
	timer := time.NewTimer(x.grace / 2)
	defer timer.Stop()
	select {
	case <-r.done:
		return true
	case <-x.life.Done():
	case <-timer.C:
	}
	return false
}

// result says how the run ended.
func (x *execution) result(r *run) codeinterp.Result {
	var res codeinterp.Result
	switch end := r.end; {
	case end == nil:
		res = x.p.obituary(x.once)
	case end.how == "error":
		res = codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: r.prog.locate(end.err)}
	case end.how == "interrupt":
		res = codeinterp.Result{Status: codeinterp.StatusError, ExitCode: codeinterp.ExitCanceled, Cause: codeinterp.CauseInterrupt, Error: r.prog.locate(end.err)}
	default:
		res = exited(end.code)
	}
	dead := r.end == nil
	switch {
	case x.why == nil:
	case x.why == errTimeout:
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusTimeout, codeinterp.ExitTimeout, ""
	case x.why == errInterrupt:
		if !dead {
			res.Status, res.ExitCode = codeinterp.StatusError, codeinterp.ExitCanceled
		}
		res.Cause = codeinterp.CauseInterrupt
	case x.why == errRestart:
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseRestart
	case errors.Is(x.why, codeinterp.ErrClosed), errors.Is(x.why, codeinterp.ErrContext):
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed
	default:
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusCanceled, codeinterp.ExitCanceled, ""
	}
	res.StateLost = dead && !x.once && x.why != errRestart
	return res
}

// fault returns the error that goes with the Result.
func (x *execution) fault() error {
	switch x.why {
	case errTimeout, errInterrupt, errRestart:
		return nil
	}
	return x.why
}

// exited is the Result of a program that ended by itself with an exit code.
func exited(code int) codeinterp.Result {
	if code == 0 {
		return codeinterp.Result{Status: codeinterp.StatusOK}
	}
	return codeinterp.Result{Status: codeinterp.StatusError, ExitCode: code}
}

// obituary is the Result of a run whose process ended without a report.
func (p *process) obituary(once bool) codeinterp.Result {
	exit := p.sb.Wait()
	p.mu.Lock()
	broken := p.broken
	p.mu.Unlock()
	lost := codeinterp.Result{Status: codeinterp.StatusLost, ExitCode: max(exit.Code, 128), Cause: exit.Cause}
	switch {
	case broken != nil:
		lost.ExitCode, lost.Cause = codeinterp.ExitKilled, codeinterp.CauseExit
		lost.Error = &codeinterp.ProgramError{Name: "ProtocolError", Message: broken.Error() + "; its process was killed"}
	case exit.Killed && exit.Cause == "":
		lost.ExitCode = codeinterp.ExitKilled
	case exit.Cause != "" || exit.Signal != 0:
		lost.Error = death(exit)
		if p.outOfMemory(exit) {
			lost.Cause = codeinterp.CauseMemory
		}
	default:
		res := exited(exit.Code)
		if !once && exit.Code != 0 {
			res.Cause = codeinterp.CauseExit
		}
		return res
	}
	return lost
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
