package kernel

import (
	"testing"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestRepliedTwice: what comes for a request that has ended, as of a kernel that
// answers twice, is not read while it is written.
func TestRepliedTwice(t *testing.T) {
	k := &Kernel{cfg: &Config{}}
	r := &request{done: make(chan struct{}), beside: true, idle: true}
	reply := func(id string) {
		f := &frame{Size: -1}
		f.Msg.Header = wire.Header{ID: id, Type: "kernel_info_reply"}
		if err := k.answer(r, f); err != nil {
			t.Error(err)
		}
	}
	reply("first")
	read := make(chan string)
	go func() {
		<-r.done
		read <- r.reply.Header.ID
	}()
	reply("second")
	if id := <-read; id != "first" {
		t.Error(id)
	}
}
