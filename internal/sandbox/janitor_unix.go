//go:build unix

package sandbox

import (
	"github.com/toolcell/toolcell/internal/sandbox/rmtree"
	"sync"
	"time"
)

const (
	// discardTime is how long Discard removes before it leaves the rest to the
	// background.
	discardTime = 200 * time.Millisecond

	// closeTime is how long Close removes.
	closeTime = 10 * time.Second

	// janitorStep is how long the background works at one directory.
	janitorStep = 500 * time.Millisecond
)

// A janitor removes directories in the background, a part of one at a time.
type janitor struct {
	mu      sync.Mutex
	todo    []*rmtree.Remover
	running bool
	closed  bool
	idle    sync.WaitGroup
}

// Discard removes a directory of TempDir's, whose processes have ended. A small
// one is gone when it returns; a large one goes in the background.
func (s *Sandbox) Discard(dir string) {
	r := rmtree.New(dir)
	if done, _ := r.Run(time.Now().Add(discardTime)); !done {
		s.temp.trash.add(r)
	}
}

func (j *janitor) add(r *rmtree.Remover) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	j.todo = append(j.todo, r)
	if !j.running {
		j.running = true
		j.idle.Go(j.work)
	}
}

func (j *janitor) work() {
	for {
		j.mu.Lock()
		if j.closed || len(j.todo) == 0 {
			j.running = false
			j.mu.Unlock()
			return
		}
		r := j.todo[0]
		j.todo = j.todo[1:]
		j.mu.Unlock()
		if done, _ := r.Run(time.Now().Add(janitorStep)); !done {
			j.mu.Lock()
			j.todo = append(j.todo, r)
			j.mu.Unlock()
		}
	}
}

// close stops the work within janitorStep. What is not done is left.
func (j *janitor) close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.idle.Wait()
}
