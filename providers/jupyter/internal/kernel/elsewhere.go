package kernel

import (
	"context"
	"crypto/rand"
	"time"
)

const (
	// deadSocketAfter is how long a kernel that the server calls idle may leave a probe
	// unanswered before it is asked by another socket too.
	deadSocketAfter = 4 * time.Second

	// elsewhereLimit is how long it has to answer there. Servers ask it themselves before
	// they pass anything on.
	elsewhereLimit = 10 * time.Second

	// elsewhereAgain is how long it is left in peace that did not.
	elsewhereAgain = 20 * time.Second
)

// checkIdle asks a kernel that should be running the program, and is said not to.
// Where it answers others and not us, the fault is the socket's, which takes what we send,
// and it goes nowhere. Where it answers nobody, it is slow, or the program has begun.
func (w *watch) checkIdle(sock *socket, gaveUp bool) {
	ctx, cancel := context.WithCancel(w.ctx)
	probed := make(chan struct{})
	go func() {
		defer close(probed)
		w.r.probe(ctx)
	}()
	defer func() { cancel(); <-probed }()
	silent := func(d time.Duration) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-probed: // also where there is nobody to answer, or nobody who waits
			return false
		case <-t.C:
			return true
		}
	}
	if !silent(deadSocketAfter) || gaveUp || time.Now().Before(w.elsewhere) {
		return
	}
	// Once more: the program may have begun while the kernel was asked.
	st, err := w.r.k.check(ctx)
	if err != nil || !notRunning(st) || time.Since(w.r.e.progress().active) < deadSocketAfter || w.r.k.listens(ctx) {
		return
	}
	if !w.r.k.answersElsewhere(ctx) {
		w.elsewhere = time.Now().Add(elsewhereAgain)
	} else if silent(deadSocketAfter) { // its answer to us may be on its way, too
		sock.fail(errDeadSocket)
	}
}

// answersElsewhere reports whether the kernel answers by another socket than ours. That
// is closed at the end, for the server keeps messages for who is the last to leave.
func (k *Kernel) answersElsewhere(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, elsewhereLimit)
	defer cancel()
	name := rand.Text()
	ws, nudge, err := k.cfg.Client.Dial(ctx, k.Handle.Kernel, name)
	if err != nil {
		return false
	}
	id, answered := name+"_1", make(chan struct{}, 1)
	s := newSocket(ws, name, nudge, k.cfg.MaxMessage, func(f *frame) error {
		if f.Msg.Parent.ID == id && f.Msg.Header.Type == "kernel_info_reply" {
			select {
			case answered <- struct{}{}:
			default:
			}
		}
		return nil
	}, func(error) {})
	defer s.leave(leaveLimit)
	if k.send(s, "shell", id, "kernel_info_request", struct{}{}) != nil {
		return false
	}
	select {
	case <-answered:
		return true
	case <-s.lost:
	case <-ctx.Done():
	}
	return false
}
