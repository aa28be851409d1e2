package kernel

import "context"

// interrupts deliver one interrupt at a time to a kernel. A slow server may deliver one long
// after its sender stopped waiting.
type interrupts struct {
	turn   chan struct{} // holds one value while an interrupt is on its way
	ctx    context.Context
	cancel context.CancelFunc
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

// AwaitInterrupts waits within ctx until no interrupt is on its way to the kernel, which
// takes no longer than the server has for a request.
func (k *Kernel) AwaitInterrupts(ctx context.Context) error {
	if err := k.interrupts.await(ctx); err != nil {
		return err
	}
	<-k.interrupts.turn
	return nil
}

// Interrupt makes the server interrupt what the kernel runs. After an error the interrupt
// may be on its way; see AwaitInterrupts.
func (k *Kernel) Interrupt(ctx context.Context) error {
	k.mu.Lock()
	run := k.run
	k.mu.Unlock()
	i := k.interrupts
	if err := i.await(ctx); err != nil {
		return err
	}
	answer := make(chan error, 1) // if ctx ends first, it is not received
	// Not bound to ctx: a request that is given up may still be delivered.
	go func() {
		defer func() { <-i.turn }()
		answer <- k.cfg.Client.Interrupt(i.ctx, k.ID)
	}()
	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if run != nil {
		run.update(func(p *progress) { p.interrupted = true })
		run.calls.interrupted()
	}
	return err
}
