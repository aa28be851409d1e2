//go:build unix

package subprocess

import (
	"testing"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestServerChildren: the server keeps only children that were requested, since other
// pids, which programs can give it, are used again.
func TestServerChildren(t *testing.T) {
	s := &forkServer{children: map[int]*sandbox.Process{}, requests: map[int]*forkRequest{}}
	s.waited(7, 0)
	s.forked(1, 6)
	if len(s.children) != 0 {
		t.Errorf("it keeps %v", s.children)
	}
}
