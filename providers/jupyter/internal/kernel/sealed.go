package kernel

import (
	"context"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// Between two runs a kernel's process can die without a word: its server looks for
// that every few seconds, and what was sent meanwhile waits for the next process,
// which would run it without the context's directory, environment and setup.
// Programs are sealed for the process for which they are, where that can open them.
// Other kernels are asked for a sign before, unless they gave one just now.

// unsureAfter is how long ago the last sign of a kernel may be that opens nothing.
const unsureAfter = 100 * time.Millisecond

// isUnsure reports whether a program may come to another process than the known one,
// and would be run.
func (k *Kernel) isUnsure() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.token == "" && time.Now().UnixNano()-k.lastMessage.Load() > int64(unsureAfter)
}

// asksToken asks a process that was set up for its token.
func (d *dialect) asksToken() map[string]string {
	if d.token == "" {
		return nil
	}
	return map[string]string{"token": d.token}
}

// tokenOf reads what asksToken asked for.
func tokenOf(out map[string]wire.Expression) string {
	return strings.Trim(out["token"].Data.Text, `'"`)
}

// lacksSetup reports whether a hidden request failed in a process that took the place
// of the one that was set up, and notes that.
func (k *Kernel) lacksSetup(e *wire.ErrorContent) bool {
	k.mu.Lock()
	is := k.dialect.unprepared != nil && k.proc.isSetUp() && k.dialect.unprepared(e)
	k.mu.Unlock()
	if is {
		k.ended(lost, codeinterp.CauseExit)
	}
	return is
}

// seal makes the content of a program's request.
func (r *runner) seal(req wire.ExecuteRequest) any {
	r.k.mu.Lock()
	token := r.k.token
	r.k.mu.Unlock()
	if r.sealed = token != ""; !r.sealed {
		return req
	}
	return req.Seal(token)
}

// turnedAway reports whether a sealed program came to a process for which it was not.
// One whose process is said to have died may still be on its way there: that process
// answers it before it answers what comes later.
func (r *runner) turnedAway() bool {
	p := r.e.progress()
	if r.sealed && p.death && !p.unopened && !r.killed && !p.gap && (!p.busy || p.next) && !r.k.isGone() {
		ctx, cancel := context.WithTimeout(r.ctx, verifyLimit)
		defer cancel()
		if r.k.ready(ctx, nil) == nil {
			p = r.e.progress()
		}
	}
	return p.unopened
}

// giveBack notes that nothing of the program has run, since the process that it was
// for had died before.
func (r *runner) giveBack() {
	r.e.finish()
	if r.k.process().isSetUp() {
		r.k.ended(lost, codeinterp.CauseExit)
	}
}

// strayed takes the end of a program for what it is that was run by a process in the
// place of the one that it was for. It began in an empty state.
func (r *runner) strayed() {
	r.e.update(func(p *progress) {
		if p.next && p.replied && !r.killed {
			p.death, p.report = false, nil
		}
	})
}
