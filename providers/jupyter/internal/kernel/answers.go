package kernel

import (
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

const (
	// maxReply is about how many bytes of answers a reply carries, which can be
	// seven times as many in the message; servers accept 10 MiB.
	maxReply = 1 << 20

	// gatherTime is how long an answer waits for those to other open calls.
	gatherTime = time.Millisecond

	// A reply says at the latest after ackAfter prompts, or ackBytes of them,
	// that they have come. The kernel holds back more than twice as many.
	ackAfter = 16
	ackBytes = 8 << 20
)

// write sends replies until the run ends.
func (c *calls) write() {
	for {
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
		c.mu.Lock()
		others := c.open > 0
		c.mu.Unlock()
		if others {
			// Calls that run side by side often end together: one reply carries all
			// their answers.
			time.Sleep(gatherTime)
		}
		for {
			s, replies := c.next()
			if len(replies) == 0 {
				break
			}
			for i := range replies {
				// What cannot be sent is sent again over the next socket.
				if c.send(s, &replies[i]) != nil {
					break
				}
			}
		}
	}
}

// owes reports whether the kernel waits to hear that its prompts have come. c.mu
// is held.
func (c *calls) owes() bool { return c.unseen >= ackAfter || c.unseenBy >= ackBytes }

// next returns what is to be sent, and by which socket.
func (c *calls) next() (*socket, []wire.InputReply) {
	c.k.mu.Lock()
	s := c.k.sock
	c.k.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	// What was under way in the old socket may be lost on both sides: ask for the
	// prompts again, and repeat every reply that the kernel may not have.
	if s != c.sock || c.again {
		replies := []wire.InputReply{{Run: c.run, Got: c.prompts, Again: s != c.sock}}
		c.sock, c.again = s, false
		return s, append(replies, c.kept...)
	}
	if len(c.answers) == 0 && !c.owes() {
		return nil, nil
	}
	c.sent++
	r := wire.InputReply{Run: c.run, Number: c.sent, Got: c.prompts}
	r.Answers, c.answers = wire.Cut(c.answers, maxReply)
	if n := len(r.Answers); n > 0 && r.Answers[n-1].How == "more" {
		c.unread.Add(wire.AnswerSize) // it is two now
	}
	// Before it is sent: where the socket fails, the next one has to bring it.
	c.kept = append(c.kept, r)
	c.unseen, c.unseenBy = 0, 0
	return s, []wire.InputReply{r}
}

// send sends a reply, unless the run ends first.
func (c *calls) send(s *socket, r *wire.InputReply) error {
	c.k.mu.Lock()
	id := c.k.newID("h")
	c.k.mu.Unlock()
	return c.k.sendUntil(c.ctx.Done(), s, "stdin", id, "input_reply", map[string]string{"value": r.Value(c.nonce), "status": "ok"})
}
