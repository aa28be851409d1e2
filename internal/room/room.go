// Package room bounds what several take of something together.
package room

import "sync"

// A Room is what is taken of something. The zero value is empty.
type Room struct {
	mu   sync.Mutex
	used int
	less chan struct{} // closed when it is less
}

// Take waits until there is room for n of most, which there always is for one alone.
// It reports whether that came before done or closed, which may be nil, were closed.
func (r *Room) Take(n, most int, done, closed <-chan struct{}) bool {
	for {
		r.mu.Lock()
		if r.used == 0 || r.used+n <= most {
			r.used += n
			r.mu.Unlock()
			return true
		}
		if r.less == nil {
			r.less = make(chan struct{})
		}
		less := r.less
		r.mu.Unlock()
		select {
		case <-less:
		case <-done:
			return false
		case <-closed:
			return false
		}
	}
}

// Free gives n back.
func (r *Room) Free(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	if r.less != nil {
		close(r.less)
		r.less = nil
	}
}

// Used is how much is taken.
func (r *Room) Used() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
