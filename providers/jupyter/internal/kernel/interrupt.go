package kernel

import "context"

// A slow server may deliver an interrupt long after its sender stopped waiting, so that
// there is one at a time.

// AwaitInterrupts waits within ctx until no interrupt is on its way to the kernel, which
// takes no longer than the server has for a request.
func (k *Kernel) AwaitInterrupts(ctx context.Context) error {
	err := k.interrupting.Take(ctx)
	if err == nil {
		k.interrupting.Give()
	}
	return err
}

// Interrupt makes the server interrupt what the kernel runs. After an error the interrupt
// may be on its way; see AwaitInterrupts.
func (k *Kernel) Interrupt(ctx context.Context) error {
	run, _ := k.present()
	err := k.interrupting.Take(ctx)
	if err != nil {
		return err
	}
	answer := make(chan error, 1) // if ctx ends first, it is not received
	// Not bound to ctx: a request that is given up may still be delivered.
	go func() {
		defer k.interrupting.Give()
		answer <- k.client.Interrupt(k.life, k.ID)
	}()
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
