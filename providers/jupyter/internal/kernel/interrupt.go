package kernel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// ErrUnconfirmed is a kernel that an earlier interrupt may still reach.
var ErrUnconfirmed = server.ErrUnconfirmed

// interrupts deliver one interrupt at a time to a kernel. A slow server may deliver one long
// after its sender stopped waiting.
type interrupts struct {
	turn        chan struct{} // holds one value while an interrupt is on its way
	unconfirmed atomic.Bool   // the fate of one is unknown
	ctx         context.Context
	cancel      context.CancelFunc
}

func newInterrupts() *interrupts {
	i := &interrupts{turn: make(chan struct{}, 1)}
	i.ctx, i.cancel = context.WithCancel(context.Background())
	return i
}

// await takes the turn, which the caller gives back.
func (i *interrupts) await(ctx context.Context) error {
	select {
	case i.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send calls deliver, which goes on after ctx has ended.
func (i *interrupts) send(ctx context.Context, deliver func(context.Context) error) error {
	if err := i.await(ctx); err != nil {
		return err
	}
	answer := make(chan error, 1) // if ctx ends first, it is not received
	// Not bound to ctx: a request that is given up may still be delivered.
	go func() {
		defer func() { <-i.turn }()
		err := deliver(i.ctx)
		if errors.Is(err, ErrUnconfirmed) {
			i.unconfirmed.Store(true)
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

// AwaitInterrupts waits within ctx until no interrupt is on its way to the kernel, which
// takes no longer than the server has for a request. ErrUnconfirmed says that one can
// still come.
func (k *Kernel) AwaitInterrupts(ctx context.Context) error {
	if err := k.interrupts.await(ctx); err != nil {
		return err
	}
	<-k.interrupts.turn
	if k.interrupts.unconfirmed.Load() {
		return ErrUnconfirmed
	}
	return nil
}

// IgnoreUnconfirmed makes AwaitInterrupts ignore the present unconfirmed interrupts.
func (k *Kernel) IgnoreUnconfirmed() { k.interrupts.unconfirmed.Store(false) }

// Interrupt asks the kernel to interrupt what it runs. After an error the interrupt may
// be on its way; see AwaitInterrupts.
func (k *Kernel) Interrupt(ctx context.Context) error {
	k.mu.Lock()
	run := k.run
	k.mu.Unlock()
	deliver := func(ctx context.Context) error { return k.cfg.Client.Interrupt(ctx, k.Handle.Kernel) }
	if k.Kind.InterruptMode == "message" {
		if run != nil { // such a kernel may answer only when the program has ended
			run.update(func(p *progress) { p.interrupted = true })
		}
		deliver = k.askToInterrupt
	}
	err := k.interrupts.send(ctx, deliver)
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
		return ErrUnconfirmed
	}
	ctx, cancel := context.WithTimeout(ctx, interruptAnswer)
	defer cancel()
	_, err := k.ask(ctx, "control", "interrupt_request", struct{}{})
	// A process that died took the interrupt along: it cannot hit what runs next.
	if err == nil || errors.Is(err, errDied) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
}
