package kernel

import (
	"crypto/rand"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// A process says what there is of the kernel's process.
type process uint8

const (
	unprepared process = iota // it lives or is about to, and was not set up
	ready                     // it was set up
	furnished                 // and has the surroundings of its context
	lost                      // it died; the server may start another
	gone                      // so is the kernel: nothing starts another
)

// isSetUp reports whether the process was set up, and lives as far as is known.
func (p process) isSetUp() bool { return p == ready || p == furnished }

// state is what is known of the kernel. Only this file changes it. Transitions:
//
//	unprepared -> ready (set up) -> furnished
//	unprepared, ready, furnished -> lost (it died) -> unprepared (another one answers)
//	any -> unprepared (we restarted it), any -> gone
//
// Fields are guarded by Kernel.mu.
type state struct {
	proc     process
	identity string // the process's own name for itself, "" where not known
	programs int    // that began in the process
	count    int    // what the kernel called the last of them
	others   bool   // it works for another client
	attached bool   // another client furnished it
	offer    offer
}

// setSocket makes the socket that open returns the kernel's. The socket's reader
// waits until ready is closed.
func (k *Kernel) setSocket(open func(ready <-chan struct{}) *socket) {
	set := make(chan struct{})
	s := open(set)
	k.mu.Lock()
	k.others, k.sock = false, s
	run := k.run
	k.mu.Unlock()
	if run != nil {
		// Nothing says whether the server replays all. Before any of it comes, which can be
		// the run's end.
		run.update(func(p *progress) { p.gap = true })
	}
	close(set)
}

// connected reports whether the socket is in order.
func (k *Kernel) connected() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sock == nil {
		return false
	}
	select {
	case <-k.sock.lost:
		return false
	default:
		return true
	}
}

// noteIdentity compares the process that answered with the one that we knew.
func (k *Kernel) noteIdentity(identity string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// Some kernels sign with the name of the client.
	if identity != "" && identity != k.name {
		if k.identity != "" && k.identity != identity && k.proc != gone {
			k.proc = lost
			k.forget()
			k.abandonAll()
		}
		k.identity = identity
	}
	if k.proc == lost {
		k.proc = unprepared
	}
}

// forget forgets what was known of the process. k.mu is held.
func (k *Kernel) forget() {
	k.identity, k.programs, k.count, k.attached, k.offer = "", 0, 0, false, offer{}
}

// noteStart notes the kernel's word that its process has begun. Before it was
// notePrepared that is no news.
func (k *Kernel) noteStart() {
	if k.process().isSetUp() {
		k.noteReport(lost, codeinterp.CauseRestart)
	}
}

// noteCount notes what the kernel called a program that ran. If one that does
// not sign with a name of its own begins to count anew, another process took the
// place of the one that was known; it reports that.
func (k *Kernel) noteCount(count int) (anew bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if count == 0 {
		return false
	}
	anew = k.identity == "" && k.count > 0 && count <= k.count
	k.count = count
	return anew
}

// countProgram counts a program and reports whether it is the first of the process.
func (k *Kernel) countProgram() (fresh bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.programs++
	return k.programs == 1
}

// uncountProgram undoes countProgram, for a program that was not sent.
func (k *Kernel) uncountProgram() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.programs = max(k.programs-1, 0)
}

// notePrepared notes that the process was set up, and its dialect.
func (k *Kernel) notePrepared(d *dialect) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dialect = d
	switch {
	case k.proc == gone:
	case k.attached:
		k.proc, k.attached = furnished, false
	default:
		k.proc = ready
	}
}

// noteEnd notes that the kernel's process ended: lost if the server restarts it, or gone.
func (k *Kernel) noteEnd(to process, cause codeinterp.Cause) {
	k.note(to, event{kind: evDeath, cause: cause})
}

// noteReport is noteEnd for what the server says, or a process that begins or ends, or
// whatever program can write to the kernel's sockets.
func (k *Kernel) noteReport(to process, cause codeinterp.Cause) {
	k.note(to, event{kind: evDeath, cause: cause, reported: time.Now()})
}

func (k *Kernel) note(to process, death event) {
	k.mu.Lock()
	if k.proc != gone {
		k.proc = to
	}
	k.forget()
	k.abandonAll()
	run := k.run
	k.mu.Unlock()
	// Without the lock: put waits for a slow OnOutput.
	if run != nil {
		run.q.put(death)
	}
}

// noteRestart forgets what belonged to the kernel's former process. The next
// Ensure connects anew, under a name for which the server has nothing.
func (k *Kernel) noteRestart() {
	k.mu.Lock()
	k.abandonAll() // before they lose the socket: they died with the process
	k.mu.Unlock()
	k.Drop()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = state{}
	k.sock, k.name, k.seen = nil, rand.Text(), recent{}
	k.abandonAll()
}

// abandonAll ends the requests that wait for the process. k.mu is held.
func (k *Kernel) abandonAll() {
	for _, r := range k.requests {
		r.abandon(errDied)
	}
}

// noteOthers notes whether the kernel is busy with what is not ours.
func (k *Kernel) noteOthers(is bool) {
	k.mu.Lock()
	k.others = is
	run := k.run
	k.mu.Unlock()
	if run != nil {
		run.update(func(*progress) {}) // a run that has not begun waits for that
	}
}

// setOffer notes what functions the process knows, where there still is one that
// could. k.mu is held.
func (k *Kernel) setOffer(o offer) {
	if k.proc.isSetUp() {
		k.offer = o
	}
}

// process returns what there is of the kernel's process.
func (k *Kernel) process() process {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.proc
}

// isGone reports whether the kernel does not exist any more.
func (k *Kernel) isGone() bool { return k.process() == gone }

// IsFurnished reports whether the kernel's process is the one that was furnished.
func (k *Kernel) IsFurnished() bool { return k.process() == furnished }

// noteFurnished notes that the process has the surroundings of its context.
func (k *Kernel) noteFurnished() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.proc == ready {
		k.proc = furnished
	}
}

// IsDown reports whether Ensure has something to do.
func (k *Kernel) IsDown() bool {
	connected := k.connected()
	k.mu.Lock()
	defer k.mu.Unlock()
	return !connected || !k.proc.isSetUp() || k.others
}

// Fresh reports whether no program has begun in the present process.
func (k *Kernel) Fresh() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.programs == 0
}

// Between two runs a process can die unnoticed: its server looks for that every few
// seconds, and what was sent meanwhile waits for the next process, which is not set up.

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
