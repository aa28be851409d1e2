//go:build unix

package subprocess

import (
	"bytes"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxWaiting is how much may wait in a lateQueue: what comes then waits outside.
const maxWaiting = 1 << 20

// A lateQueue hands on what threads and tasks of earlier runs print and display,
// in its order, on a goroutine of its own: a slow OnOutput is not to keep the
// control channel, on which the end of the run comes, from being read.
type lateQueue struct {
	deliver func(codeinterp.Output) // may take any time

	mu     sync.Mutex
	change sync.Cond // of size and busy; its L is mu from the first wait on
	list   []codeinterp.Output
	size   int
	busy   bool // a goroutine delivers
}

// add takes an output, and its memory. It waits while there is much.
func (q *lateQueue) add(o codeinterp.Output) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.until(func() bool { return q.size < maxWaiting })
	o.Late = true
	q.push(o)
}

// follow takes a copy of what the run itself has written, and reports true, while there
// is late output that was written before.
func (q *lateQueue) follow(kind codeinterp.Kind, b []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.until(func() bool { return q.size < maxWaiting })
	if !q.busy {
		return false
	}
	q.push(codeinterp.Output{Kind: kind, Data: bytes.Clone(b)})
	return true
}

func (q *lateQueue) push(o codeinterp.Output) {
	const each = 256 // what an output costs beside its bytes
	if n := len(q.list); n > 0 && o.Kind != codeinterp.Display && q.list[n-1].Kind == o.Kind && q.list[n-1].Late == o.Late {
		q.list[n-1].Data = append(q.list[n-1].Data, o.Data...)
	} else {
		q.list = append(q.list, o)
		q.size += each
	}
	q.size += o.Size()
	if !q.busy {
		q.busy = true
		go q.loop()
	}
}

// wait waits until all that was added has been delivered.
func (q *lateQueue) wait() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.until(func() bool { return !q.busy })
}

// pause waits as wait does, and keeps what is added from then on.
func (q *lateQueue) pause() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.until(func() bool { return !q.busy })
	q.busy = true
}

// resume takes pause back.
func (q *lateQueue) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) > 0 {
		go q.loop()
		return
	}
	q.busy = false
	q.change.Broadcast()
}

// until waits for ok. mu is held.
func (q *lateQueue) until(ok func() bool) {
	for q.change.L = &q.mu; !ok(); {
		q.change.Wait()
	}
}

func (q *lateQueue) loop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) > 0 {
		list := q.list
		q.list, q.size = nil, 0
		q.change.Broadcast()
		q.mu.Unlock()
		for _, o := range list {
			q.deliver(o)
		}
		q.mu.Lock()
	}
	q.busy = false
	q.change.Broadcast()
}

// addToRun gives an earlier run's output to the run in progress, or keeps it for
// the next one. Where there was no earlier one, it is of a thread that a preloaded
// module has started, and the run's as what children of that print is.
func (p *process) addToRun(o codeinterp.Output) {
	p.mu.Lock()
	r, first := p.run, p.runs == 1
	p.mu.Unlock()
	taken, own := false, !o.Late
	o.Late = true
	switch {
	case r == nil:
	case own:
		taken = r.out.Write(o.Kind, o.Data)
	case first && o.Kind != codeinterp.Display:
		taken = r.out.Write(o.Kind, o.Data)
	default:
		now := o
		now.Late = !first
		taken = r.out.Add(now)
	}
	if !taken {
		p.keepLate(o)
	}
}
