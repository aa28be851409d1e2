package kernel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/room"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestKeptAnswers: answers that the kernel does not say it has are counted with what
// they take beside their text, and given back when it does, also those in parts.
func TestKeptAnswers(t *testing.T) {
	c := &calls{k: &Kernel{}, unread: room.Backlog{Most: maxKept}, wake: make(chan struct{}, 1)}
	for range maxKept / wire.AnswerSize {
		c.answer(wire.FunctionCall{}, json.RawMessage("1"), nil)
	}
	if n := c.unread.Bytes(); n <= maxKept {
		t.Errorf("%d bytes are counted", n)
	}
	c.answer(wire.FunctionCall{}, json.RawMessage(`"`+strings.Repeat("x", 5*maxReply)+`"`), nil)
	for {
		if _, replies := c.next(); len(replies) == 0 {
			break
		}
	}
	c.drop(c.sent)
	if n := c.unread.Bytes(); n != 0 || len(c.kept) > 0 {
		t.Errorf("%d bytes and %d replies are left", n, len(c.kept))
	}
}
