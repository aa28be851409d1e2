package kernel

import (
	"context"
	"time"
)

// meanwhile is how long a kernel has to show that what was left in it has ended.
const meanwhile = time.Second

// EndLeft ends what an earlier program left running, the one way or the other,
// and says how it ended. kill is as in Order. ErrGone means that it went with
// the kernel. If kill is nil the kernel may be at work for others, so that the
// program's own end is waited for.
func (k *Kernel) EndLeft(ctx context.Context, grace time.Duration, kill func(context.Context) error, busy func(bool)) (how string, err error) {
	if !k.connected() {
		if err := k.Connect(ctx); err != nil {
			return "", err
		}
	}
	if kill == nil {
		return "has ended", k.ready(ctx, busy)
	}
	if err := k.answers(ctx, meanwhile); err == nil || k.isGone() {
		return "had ended meanwhile", nil
	}
	interrupt, cancel := context.WithTimeout(ctx, interruptLimit)
	defer cancel()
	// One that fails shows as a kernel that does not answer.
	_ = k.Interrupt(interrupt)
	if err := k.answers(ctx, grace); err == nil || k.isGone() {
		return "was interrupted", nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return "was ended with its kernel's process", kill(ctx)
}

// answers waits for a sign, which a kernel gives between programs only.
func (k *Kernel) answers(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return k.ready(ctx, nil)
}
