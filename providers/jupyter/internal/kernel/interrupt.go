package kernel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// ErrAdrift is a kernel that an earlier interrupt may reach at any time, and
// hit what runs then.
var ErrAdrift = server.ErrAdrift

// An interrupts keeps account of the interrupts on their way to a kernel. A server that is slow may
// deliver one long after its sender stopped waiting, so each is followed until
// it is known to have been delivered, or not.
type interrupts struct {
	mu     sync.Mutex
	flying int
	landed chan struct{} // closed when none is on its way any more
	adrift bool          // of one nobody knows, and nobody will
	ctx    context.Context
	cancel context.CancelFunc
}

func newInterrupts() *interrupts {
	i := &interrupts{landed: make(chan struct{})}
	close(i.landed)
	i.ctx, i.cancel = context.WithCancel(context.Background())
	return i
}

// send calls deliver, which goes on after ctx has ended.
func (i *interrupts) send(ctx context.Context, deliver func(context.Context) error) error {
	i.mu.Lock()
	if i.flying++; i.flying == 1 {
		i.landed = make(chan struct{})
	}
	i.mu.Unlock()
	answer := make(chan error, 1)
	// Not bound to ctx: a request that is given up may still be delivered.
	go func() {
		err := deliver(i.ctx)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.adrift = i.adrift || errors.Is(err, ErrAdrift)
		if i.flying--; i.flying == 0 {
			close(i.landed)
		}
		answer <- err
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Calm waits within ctx until no interrupt is on its way to the kernel, which
// takes no longer than the server has for a request. ErrAdrift says that one can
// still come.
func (k *Kernel) Calm(ctx context.Context) error {
	i := k.interrupts
	i.mu.Lock()
	landed := i.landed
	i.mu.Unlock()
	select {
	case <-landed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.adrift {
		return ErrAdrift
	}
	return nil
}

// Risk has Calm overlook the interrupts that are adrift now.
func (k *Kernel) Risk() {
	k.interrupts.mu.Lock()
	defer k.interrupts.mu.Unlock()
	k.interrupts.adrift = false
}

// Interrupt asks the kernel to interrupt what it runs. It is ErrUnsupported where
// the kernel's answer would not be the program's end. After another error the
// interrupt may be on its way; see Calm.
func (k *Kernel) Interrupt(ctx context.Context) error {
	k.mu.Lock()
	run, deaf := k.run, k.dialect.deaf
	k.mu.Unlock()
	if deaf {
		return errors.ErrUnsupported
	}
	deliver := func(ctx context.Context) error { return k.cfg.Client.Interrupt(ctx, k.Handle.Kernel) }
	if k.Kind.InterruptMode == "message" {
		if run != nil { // such a kernel may answer only when the program has ended
			run.update(func(p *progress) { p.interrupted = true })
		}
		deliver = k.askToInterrupt
	}
	err := k.interrupts.send(ctx, func(ctx context.Context) error {
		err := deliver(ctx)
		if err == nil {
			k.shook() // before Calm lets the next program begin
		}
		return err
	})
	if run != nil {
		run.update(func(p *progress) { p.interrupted = true })
		run.calls.interrupted()
	}
	return err
}

// interruptAnswer is how long a kernel has to answer an interrupt that it is
// asked for, as long as a server has for one.
const interruptAnswer = 30 * time.Second

// askToInterrupt asks the kernel itself, whose word says that the interrupt is
// done. A server that is asked only passes the request on, which can reach the
// kernel at any time afterwards.
func (k *Kernel) askToInterrupt(ctx context.Context) error {
	if !k.connected() {
		if err := k.cfg.Client.Interrupt(ctx, k.Handle.Kernel); err != nil {
			return err
		}
		return ErrAdrift
	}
	ctx, cancel := context.WithTimeout(ctx, interruptAnswer)
	defer cancel()
	_, err := k.ask(ctx, "control", "interrupt_request", struct{}{})
	if err == nil || errors.Is(err, errDied) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrAdrift, err)
}
