package mcptools

import (
	"testing"
	"testing/synctest"
)

// TestRoom: what is beyond the room waits until there is some, or nobody waits for
// the answer any more.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r room
		closed := make(chan struct{})
		newCaller := func() *caller { return &caller{room: &r, done: make(chan struct{})} }
		huge := newCaller()
		if !huge.admit(2*maxRoom, closed) {
			t.Error("one alone was not admitted")
		}
		next, gone, last := newCaller(), newCaller(), newCaller()
		got := make(chan bool)
		admit := func(c *caller) { go func() { got <- c.admit(maxRoom/2, closed) }(); synctest.Wait() }
		admit(next)
		select {
		case <-got:
			t.Error("there was room")
		default:
		}
		huge.end()
		huge.end()
		if !<-got {
			t.Error("not admitted although there is room")
		}
		next.admit(maxRoom/2, closed)
		admit(gone)
		gone.end()
		if <-got {
			t.Error("admitted although nobody waits")
		}
		admit(last)
		close(closed)
		if <-got {
			t.Error("admitted although the connection is closed")
		}
		if next.end(); r.Used() != 0 {
			t.Errorf("%d bytes are left", r.Used())
		}
		if over := newCaller(); true {
			over.end()
			if over.admit(1, nil); r.Used() != 0 {
				t.Errorf("%d bytes are left by a call that was over", r.Used())
			}
		}
	})
}
