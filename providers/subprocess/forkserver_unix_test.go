//go:build unix

package subprocess

import "testing"

// TestServerChildren: the server keeps only children that were requested, since other
// pids, which programs can give it, are used again.
func TestServerChildren(t *testing.T) {
	pids := make(chan int, 1)
	s := &server{children: map[int]*child{}, waiting: map[int]chan int{2: pids}}
	s.waited(7, 0)
	s.forked(1, 6)
	if len(s.children) != 0 {
		t.Errorf("it keeps %v", s.children)
	}
	s.forked(2, 7)
	if pid := <-pids; pid != 7 {
		t.Errorf("the answer is %d, want 7", pid)
	}
	if s.waited(7, 9); !s.children[7].ended || s.children[7].status != 9 {
		t.Error("the status of a child that ended before it was adopted is lost")
	}
}
