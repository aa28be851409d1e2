package kernel

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// A kernel that other clients use runs our request when its turn comes. An interrupt
// reaches whatever runs, so that none is sent before our own program has begun.

const (
	// busyBegins is how long a kernel works at a request until it is taken to have begun
	// the program, if it does not report that.
	busyBegins = 500 * time.Millisecond

	// abortLimit bounds the wait for the answer to an abort_request.
	abortLimit = time.Second
)

// ErrWithdrawn is a program that the kernel has dropped before it began.
var ErrWithdrawn = server.Unavailable("the program was withdrawn while another client's program ran")

// begin notes that the kernel has begun the program. Only the first call has an effect.
func (e *execution) begin() {
	e.mu.Lock()
	first := !e.hasBegin
	e.hasBegin = true
	e.mu.Unlock()
	if first && e.program != nil {
		e.program.Begin()
	}
}

// hasBegun reports whether an interrupt can only reach our own program.
func (e *execution) hasBegun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hasBegin
}

// withdraw takes back a program that the kernel has not begun, and reports whether
// nothing else is to be done. If the kernel cannot drop it, it stays in the queue.
func (r *runner) withdraw() bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), abortLimit)
	defer cancel()
	var err error
	if r.k.dialect.aborts {
		_, err = r.k.ask(ctx, "control", "abort_request", map[string][]string{"msg_ids": {r.e.id}})
	}
	switch {
	case r.e.hasBegun():
		return false
	case !r.k.dialect.aborts || err != nil:
		r.killErr = server.Unavailable("the program waits behind another client's program and may still run")
		r.e.begin()
	}
	r.queued = true
	return true
}

// isBusyWithOthers reports whether the kernel runs a program of another client.
func (k *Kernel) isBusyWithOthers() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.others
}
