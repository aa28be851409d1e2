package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/room"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

const (
	// maxCalls is how many calls of a run may be open, each of which costs a
	// goroutine. What setup.py runs refuses more than half of that; what a program
	// forges beyond it gets no answer.
	maxCalls = 8192

	// maxKept is how many bytes of replies may wait for the kernel's word that it
	// has them before no further call is served.
	maxKept = 64 << 20
)

// calls are the function calls of one run's program. They travel through the
// stdin channel: prompts come, replies go. Both are numbered, and kept until the
// other side has them; what was under way when the socket was lost is sent again.
type calls struct {
	k     *Kernel
	run   string // its request
	prog  *driver.Program
	nonce string

	places places
	unread room.Backlog // answers and kept

	ctx      context.Context // ends with the run
	over     context.CancelFunc
	stopped  chan struct{} // closed when the program was interrupted
	stopOnce sync.Once
	wake     chan struct{}  // for the writer
	work     sync.WaitGroup // the writer and the calls

	mu       sync.Mutex
	begun    chan struct{}     // closed once the calls that came last have begun, in their order
	open     int               // calls without an answer
	prompts  int               // that came
	unseen   int               // of them, those that no reply speaks of
	unseenBy int               // and their bytes
	answers  []wire.Answer     // that wait to be sent
	sent     int               // replies
	kept     []wire.InputReply // that the kernel may not have
	again    bool              // the kernel lacks replies
	sock     *socket           // the last one that was written to
}

// newCalls returns nil if no program of the kernel has had functions: one that has
// none may have kept one. k.mu is held.
func newCalls(k *Kernel, run string, prog *driver.Program, behind func() bool) *calls {
	if k.offer.nonce == "" {
		return nil
	}
	c := &calls{k: k, run: run, prog: prog, nonce: k.offer.nonce, sock: k.sock,
		places: places{behind: behind}, unread: room.Backlog{Most: maxKept}, stopped: make(chan struct{}), wake: make(chan struct{}, 1)}
	c.ctx, c.over = context.WithCancel(context.Background())
	prog.Room = c.unread.Wait
	c.work.Go(c.write)
	return c
}

// stop ends the calls, and sends nothing more.
func (c *calls) stop() {
	if c != nil {
		c.over()
	}
}

// close is stop, and returns when nothing of the calls goes on.
func (c *calls) close() {
	if c != nil {
		c.over()
		c.work.Wait()
	}
}

// interrupted lets the calls that ended with the run be answered.
func (c *calls) interrupted() {
	if c != nil {
		c.stopOnce.Do(func() { close(c.stopped) })
	}
}

// reconnected sends again what was in flight.
func (c *calls) reconnected() {
	if c != nil {
		c.poke()
	}
}

// poke wakes the writer.
func (c *calls) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take serves the calls of a prompt.
func (c *calls) take(p *wire.Prompt) {
	c.mu.Lock()
	c.drop(p.Got)
	c.again = c.again || p.Again
	if p.Number == c.prompts+1 { // else it came before, or will come again
		c.prompts++
		c.unseen++
		c.unseenBy += p.Size
		list := p.Calls[:min(len(p.Calls), maxCalls-c.open)]
		c.open += len(list)
		before, begun := c.begun, make(chan struct{})
		c.begun = begun
		c.work.Go(func() {
			defer close(begun)
			// Prompts come in order, and their calls begin in it, each on a goroutine of its own.
			if before != nil {
				<-before
			}
			c.places.await(c.ctx, p.At)
			for _, call := range list {
				c.begin(call)
			}
		})
	}
	write := c.again || c.owes()
	c.mu.Unlock()
	if write {
		c.poke()
	}
}

// begin serves and answers a call. It waits while the kernel leaves too much unread.
func (c *calls) begin(call wire.FunctionCall) {
	c.work.Add(1)
	c.prog.Start(c.ctx, call.Name, call.Args, func(value json.RawMessage, err error) {
		defer c.work.Done()
		c.answer(call, value, err)
		c.unread.Wait(c.ctx)
	})
}

// answer answers a call. A call that the end of the run cancels is
// answered once the program was interrupted.
func (c *calls) answer(call wire.FunctionCall, value json.RawMessage, err error) {
	if errors.Is(err, driver.ErrEnded) {
		select {
		case <-c.stopped:
		case <-c.ctx.Done():
		}
	}
	a := wire.Answer{ID: call.ID, How: "ok", Text: string(value)}
	if e, ok := errors.AsType[*codeinterp.FunctionError](err); ok {
		a.How, a.Text = "error", e.Message
	} else if err != nil {
		a.How, a.Text = "error", "the run has ended"
	}
	c.mu.Lock()
	c.open--
	c.answers = append(c.answers, a)
	c.unread.Add(a.Size())
	c.mu.Unlock()
	c.poke()
}

// drop forgets the replies up to number got, which the kernel has. c.mu is held.
func (c *calls) drop(got int) {
	for len(c.kept) > 0 && c.kept[0].Number <= got {
		for _, a := range c.kept[0].Answers {
			c.unread.Add(-a.Size())
		}
		// The array stays in use, and would keep the answers alive.
		c.kept[0] = wire.InputReply{}
		c.kept = c.kept[1:]
	}
}
