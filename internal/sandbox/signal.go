package sandbox

import "syscall"

// SignalAll sends sig to the program and to everything that it started, as a
// terminal does for Ctrl-C. Programs that a shell put into the background
// ignore SIGINT. It returns os.ErrProcessDone where the program has ended.
func (p *Process) SignalAll(sig syscall.Signal) error {
	if t, ok := p.tree.(interface{ signalAll(syscall.Signal) error }); ok {
		return t.signalAll(sig)
	}
	return p.Signal(sig)
}
