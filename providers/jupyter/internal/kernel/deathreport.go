package kernel

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A deathReport says that the kernel's process has ended. It comes from the server, from a
// process that begins or ends, and from whatever program can write to the kernel's sockets.
type deathReport struct {
	to    process // lost or gone
	cause codeinterp.Cause
	at    time.Time
}

// noteReport takes a report of the process's end. If no program runs, it is believed.
func (k *Kernel) noteReport(to process, cause codeinterp.Cause) {
	k.mu.Lock()
	run := k.run
	k.mu.Unlock()
	if run == nil || run.progress().past {
		k.noteEnd(to, cause)
		return
	}
	run.q.put(event{kind: evDeathReport, report: &deathReport{to, cause, time.Now()}})
}

// endReported ends the process of a program that is reported dead, since a program can forge
// the report and continue. A kernel that is gone, or that other clients use, is not ended. It
// reports whether the run is over.
func (r *runner) endReported(d *deathReport) (over bool) {
	r.reported = true
	if r.Kill == nil || r.k.isGone() || r.k.isShared(r.ctx) {
		r.k.noteEnd(d.to, d.cause) // it comes through the queue, behind all output
		return false
	}
	r.kill()
	return true
}

// isShared reports whether other clients are connected too.
func (k *Kernel) isShared(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveLimit)
	defer cancel()
	st, err := k.check(ctx)
	return err == nil && st.Connections > 1
}
