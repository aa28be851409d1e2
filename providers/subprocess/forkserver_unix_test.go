//go:build unix

package subprocess

import "testing"

// TestServerChildren: of processes that the fork server did not fork, which a
// program can give it, nothing is kept for the day when their pid comes round.
func TestServerChildren(t *testing.T) {
	s := &server{children: map[int]*child{}}
	s.waited(7, 0)
	if len(s.children) != 0 {
		t.Error("a stranger's status is kept")
	}
	request, pids := s.expect()
	s.forked(request-1, 6)
	s.forked(request, 7)
	if pid := <-pids; pid != 7 {
		t.Errorf("the answer is %d, want 7", pid)
	}
	if c := s.children[7]; c == nil || c.ended {
		t.Error("the child has ended before it began")
	}
	s.waited(7, 9)
	if c := s.children[7]; c == nil || !c.ended || c.status != 9 {
		t.Error("the status of a child that ended early is lost")
	}
}
