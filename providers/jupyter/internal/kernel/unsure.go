package kernel

import (
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// Between two runs a kernel's process can die without a word: its server looks for
// that every few seconds, and what was sent meanwhile waits for the next process, which
// has not the context's directory, environment and setup. A kernel is asked for a sign
// before a run, unless it gave one just now.

// unsureAfter is the age of the last message after which a kernel is asked for a sign.
const unsureAfter = 100 * time.Millisecond

// isUnsure reports whether the known process may have died unnoticed.
func (k *Kernel) isUnsure() bool {
	return time.Now().UnixNano()-k.lastMessage.Load() > int64(unsureAfter)
}

// lacksSetup reports whether a hidden request failed in a process that took the place
// of the one that was set up, and notes that.
func (k *Kernel) lacksSetup(e *wire.ErrorContent) bool {
	k.mu.Lock()
	is := k.dialect.unprepared != nil && k.proc.isSetUp() && k.dialect.unprepared(e)
	k.mu.Unlock()
	if is {
		k.noteEnd(lost, codeinterp.CauseExit)
	}
	return is
}

// correctStray corrects the end of a program that ran in a process other than the one that it
// was sent to. It began in an empty state.
func (r *runner) correctStray() {
	r.e.update(func(p *progress) {
		if p.next && p.replied && !r.killed {
			p.death, p.report = false, nil
		}
	})
}
