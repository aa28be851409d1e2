//go:build unix

package sandbox

import (
	"maps"
	"slices"
	"sync"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
)

// A liveProcs is the processes of a Sandbox.
type liveProcs struct {
	mu     sync.Mutex
	closed bool
	all    map[*proc]struct{}
}

// add registers a process, unless the Sandbox was closed.
func (l *liveProcs) add(p *proc) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return codeinterp.ErrClosed
	}
	if l.all == nil {
		l.all = map[*proc]struct{}{}
	}
	l.all[p] = struct{}{}
	return nil
}

func (l *liveProcs) remove(p *proc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, p)
}

func (l *liveProcs) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *liveProcs) list() []*proc {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.all))
}

// close refuses further processes, kills all, and waits until they have ended.
func (l *liveProcs) close() {
	l.mu.Lock()
	l.closed = true
	list := slices.Collect(maps.Keys(l.all))
	l.mu.Unlock()
	for _, p := range list {
		p.kill()
	}
	for _, p := range list {
		<-p.done
	}
}

// A Process is a program that [Sandbox.Start] started or [Fork.Adopt] took
// over, with everything it started in turn.
type Process struct {
	pid  int
	done chan struct{}
	exit Exit
	tree *proc
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

// SignalAll sends sig to the program and to everything that it started, as a
// terminal does for Ctrl-C. Programs that a shell put into the background
// ignore SIGINT. It returns os.ErrProcessDone where the program has ended.
func (p *Process) SignalAll(sig syscall.Signal) error { return p.tree.signalAll(sig) }

// Rest stops measuring what the process uses, which takes a part of a processor: it runs
// no untrusted code until Wake, which is called before it is given any.
func (p *Process) Rest() { p.tree.rest(true) }

// Wake starts measuring again.
func (p *Process) Wake() { p.tree.rest(false) }

// Kill ends the whole tree and returns at once; Wait says when it is done.
// Nothing of the tree runs code of its own once Kill has returned, except in
// none mode what escaped the process group unseen.
func (p *Process) Kill() { p.tree.kill() }

// Finish reports the wait status, as wait4(2) encodes it, of a process that
// its fork server has waited for. Only for processes of [Fork.Adopt]: the host
// cannot wait for what is not its child.
func (p *Process) Finish(status uint32) { p.tree.finish(status) }
