//go:build unix

package sandbox

import (
	"time"

	"github.com/toolcell/toolcell/internal/sandbox/rmtree"
)

const (
	discardTime = 200 * time.Millisecond // for a directory before its removal goes on in the background
	closeTime   = 10 * time.Second       // for what is left when a Sandbox is closed
)

// Discard removes a directory of TempDir's, whose processes have ended. A small one is
// gone when it returns; a large one goes in the background.
func (s *Sandbox) Discard(dir string) {
	r := rmtree.New(dir)
	if done, _ := r.Run(time.Now().Add(discardTime)); !done {
		s.temp.removeLater(r)
	}
}

// removeLater goes on with a removal in the background until remove is called, which
// removes the rest.
func (t *tempRoot) removeLater(r *rmtree.Remover) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == "" {
		return
	}
	t.trash.Go(func() {
		for t.path() != "" {
			if done, _ := r.Run(time.Now().Add(discardTime)); done {
				return
			}
		}
	})
}
