//go:build unix

package subprocess

import (
	"errors"
	"sync"
	"time"
)

// quick is how long a function may keep the goroutine that listens. After that
// another one listens.
const quick = 2 * time.Millisecond

// errRelieved says that another goroutine listens.
var errRelieved = errors.New("another goroutine listens")

// A quickCalls lets the goroutine that listens serve calls itself. One goroutine
// for each call costs a switch to it, and wakes threads that find nothing to do:
// together as much as the rest of a call. Where a function is not quick, all
// calls of its run get goroutines of their own.
type quickCalls struct {
	relieve func() // starts another goroutine that listens

	mu      sync.Mutex
	timer   *time.Timer // calls check every now and then, while there are calls
	armed   bool
	count   int // calls so far
	seen    int // what that was at the last check
	serving int // the call that is being served, zero if none is
	of      *run
}

// begin begins a call that the caller serves. ok is false where it must not.
func (q *quickCalls) begin(r *run) (turn int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.slow {
		return 0, false
	}
	q.count++
	q.serving, q.of = q.count, r
	if !q.armed {
		q.armed = true
		if q.timer == nil {
			q.timer = time.AfterFunc(quick, q.check)
		} else {
			q.timer.Reset(quick)
		}
	}
	return q.count, true
}

// end ends it, and reports whether the caller still is who listens.
func (q *quickCalls) end(turn int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.serving != turn {
		return false
	}
	q.serving, q.of = 0, nil
	return true
}

// check relieves who has served one call since the last check. A timer for each
// call would cost more.
func (q *quickCalls) check() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.count == q.seen {
		if q.serving != 0 {
			q.of.slow = true
			q.serving, q.of = 0, nil
			q.relieve()
		}
		q.armed = false
		return
	}
	q.seen = q.count
	q.timer.Reset(quick)
}

// serveHere calls f, which serves a call, on the goroutine that listens.
func (p *process) serveHere(turn int, f func()) (err error) {
	exited := true
	defer func() {
		switch still := p.quick.end(turn); {
		case !still:
			err = errRelieved
		case exited: // a function ended the goroutine
			p.quick.relieve()
		}
	}()
	f()
	exited = false
	return nil
}
