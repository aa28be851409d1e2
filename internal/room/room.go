// Package room bounds what several take of something together.
package room

import (
	"slices"
	"sync"
)

// A Room is what is taken of something, in the order in which they ask for it, so
// that none waits for ever for those who want less. The zero value is empty.
type Room struct {
	mu      sync.Mutex
	used    int
	waiting []*waiter
}

type waiter struct {
	n, most int
	taken   chan struct{} // closed when it has what it waited for
}

// Take waits until there is room for n of most, which there always is for one alone.
// It reports whether that came before done or closed, which may be nil, were closed.
// Who has some and takes more may wait for others who wait for it.
func (r *Room) Take(n, most int, done, closed <-chan struct{}) bool {
	w := &waiter{n, most, make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, w)
	r.admit()
	r.mu.Unlock()
	select {
	case <-w.taken:
		return true
	default:
	}
	select {
	case <-w.taken:
		return true
	case <-done:
	case <-closed:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting, w)
	if i < 0 {
		return true // it came at that moment
	}
	r.waiting = slices.Delete(r.waiting, i, i+1)
	r.admit() // who waited behind it
	return false
}

// Free gives n back.
func (r *Room) Free(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	r.admit()
}

// admit gives those who have waited longest what there is.
func (r *Room) admit() {
	for len(r.waiting) > 0 {
		w := r.waiting[0]
		if r.used > 0 && r.used+w.n > w.most {
			return
		}
		r.used += w.n
		r.waiting = slices.Delete(r.waiting, 0, 1)
		close(w.taken)
	}
}

// Used is how much is taken.
func (r *Room) Used() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
