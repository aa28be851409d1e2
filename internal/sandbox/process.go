package sandbox

import (
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Exit says how a process ended.
type Exit struct {
	// Code is the program's exit code, or 128 + Signal.
	Code int

	// Signal is what ended the program, 0 if it exited by itself.
	Signal syscall.Signal

	// Cause is the limit that was reached, or CauseSignal for a signal that
	// was not ours. It is empty after an exit of the program's own, and after
	// Kill.
	Cause codeinterp.Cause

	// Detail says more about a Cause that is a limit, such as "memory: 540
	// MiB in use, limit 512 MiB".
	Detail string

	// Killed tells that Kill ended it.
	Killed bool

	// CPU is the time used and MaxRSS the largest resident size, in bytes,
	// as far as the kernel and the watchdog have seen them; MaxRSS is often 0
	// for short programs.
	CPU    time.Duration
	MaxRSS int64
}

// A Process is a program that [Sandbox.Start] started or [Fork.Adopt] took
// over, with everything it started in turn.
type Process struct {
	pid  int
	done chan struct{}
	exit Exit
	tree tree
}

// A tree is what the platform does to a process and its descendants.
type tree interface {
	signal(sig syscall.Signal) error
	signalAll(sig syscall.Signal) error
	kill()
	finish(status uint32)
	rest(on bool)
}

// Pid returns the process id on the host of what Start started. In bwrap mode
// that is bubblewrap's.
func (p *Process) Pid() int { return p.pid }

// Done is closed when the process has ended and its tree was killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until Done and says how the process ended. It may be called any
// number of times.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Signal sends sig to the program itself, in bwrap mode too, and to none of
// its children. It returns os.ErrProcessDone where the program has ended.
func (p *Process) Signal(sig syscall.Signal) error { return p.tree.signal(sig) }

// SignalAll sends sig to the program and to everything that it started, as a
// terminal does for Ctrl-C. Programs that a shell put into the background
// ignore SIGINT. It returns os.ErrProcessDone where the program has ended.
func (p *Process) SignalAll(sig syscall.Signal) error { return p.tree.signalAll(sig) }

// Rest has the process not be watched for what it uses, which takes a part of a
// processor: it waits and runs no untrusted code until Wake, which comes before it is
// given any.
func (p *Process) Rest() { p.tree.rest(true) }

// Wake has it be watched again.
func (p *Process) Wake() { p.tree.rest(false) }

// Kill ends the whole tree and returns at once; Wait says when it is done.
// Nothing of the tree runs code of its own once Kill has returned, except in
// none mode what escaped the process group unseen.
func (p *Process) Kill() { p.tree.kill() }

// Finish reports the wait status, as wait4(2) encodes it, of a process that
// its fork server has waited for. Only for processes of [Fork.Adopt]: the host
// cannot wait for what is not its child.
func (p *Process) Finish(status uint32) { p.tree.finish(status) }
