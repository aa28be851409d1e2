package kernel

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/pytools"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

const (
	// maxCalls is how many calls of a run may be open, each of which costs a goroutine.
	// calls.py refuses more than half of that.
	maxCalls = 8192

	// maxReply is how many bytes of an answer a reply carries, which can be seven times as
	// many in the message; servers accept 10 MiB.
	maxReply = 1 << 20
)

// calls are the function calls of one run's program. They travel through the stdin
// channel. After a lost connection the kernel fails the calls that are open, and prompts
// from before it are ignored.
type calls struct {
	k     *Kernel
	run   string // its request
	prog  *driver.Program
	nonce string

	ctx      context.Context // ends with the run
	over     context.CancelFunc
	stopped  chan struct{} // closed when the program was interrupted
	stopOnce sync.Once
	work     sync.WaitGroup

	mu    sync.Mutex
	begun chan struct{} // closed once the calls that came last have begun, in their order
	open  int           // calls without an answer
	epoch int           // lost connections
}

// newCalls returns nil if no program of the kernel has had functions: one that has
// none may have kept one. k.mu is held.
func newCalls(k *Kernel, run string, prog *driver.Program) *calls {
	if k.offer.nonce == "" {
		return nil
	}
	c := &calls{k: k, run: run, prog: prog, nonce: k.offer.nonce, stopped: make(chan struct{})}
	c.ctx, c.over = context.WithCancel(context.Background())
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

// reconnected makes the kernel fail the open calls: their prompts or answers may be lost.
func (c *calls) reconnected() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	lost := wire.Answer{Run: c.run, ID: int64(c.epoch), How: "lost"}
	c.work.Go(func() { c.send(&lost) })
}

// take serves the calls of a prompt.
func (c *calls) take(p *wire.Prompt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Epoch != c.epoch {
		return
	}
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
		for _, call := range list {
			c.work.Add(1)
			c.prog.Start(c.ctx, call.Name, call.Args, func(value json.RawMessage, err error) {
				defer c.work.Done()
				c.answer(call.ID, value, err)
			})
		}
	})
}

// answer answers a call, and returns once the answer is on its way. A call that the end of
// the run cancels is answered once the program was interrupted.
func (c *calls) answer(id int64, value json.RawMessage, err error) {
	if errors.Is(err, driver.ErrEnded) {
		select {
		case <-c.stopped:
		case <-c.ctx.Done():
		}
	}
	how, text := "ok", string(value)
	if e, ok := errors.AsType[*codeinterp.FunctionError](err); ok {
		how, text = "error", e.Message
	} else if err != nil {
		how, text = "error", "the run has ended"
	}
	head, rest := wire.Cut(text, maxReply)
	for ; rest != ""; head, rest = wire.Cut(rest, maxReply) {
		c.send(&wire.Answer{Run: c.run, ID: id, How: "more", Text: head})
	}
	c.send(&wire.Answer{Run: c.run, ID: id, How: how, Text: head})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// send sends a reply, unless the run ends first. One that is lost with the connection is
// made good by reconnected.
func (c *calls) send(a *wire.Answer) {
	c.k.sendInput(c.ctx.Done(), a.Value(c.nonce))
}

// maxArgs bounds the arguments of one call; the prompt that carries them can be
// three times as large.
const maxArgs = maxMessage/3 - 2<<20

// An offer is what a kernel's process knows of the functions of the host.
type offer struct {
	names []string
	nonce string // at the beginning of prompts that call
}

// CanCall reports whether programs of the kind can call functions of the host.
func (k Kind) CanCall() bool { return k.dialect.offer != nil }

// Offer says what the next programs can call. Kernels whose programs cannot call
// are ErrInvalid, unless there is nothing.
func (k *Kernel) Offer(ctx context.Context, functions []codeinterp.Function) error {
	names := pytools.Names(functions)
	k.mu.Lock()
	known, d, client := slices.Equal(names, k.offer.names), k.dialect, k.name
	k.mu.Unlock()
	switch {
	case known:
		return nil
	case d.offer == nil:
		return fmt.Errorf("%w: programs of kernel %q cannot call functions", codeinterp.ErrInvalid, k.Kind.Name)
	}
	o := offer{names: names, nonce: "toolcell-" + rand.Text() + ":"}
	args := map[string]any{"names": names, "nonce": o.nonce, "client": client + "_",
		"args": maxArgs}
	if err := k.Hidden(ctx, d.offer(args)); err != nil {
		return refusedSurroundings(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	// Another process may have taken its place meanwhile, which knows of no functions.
	k.setOffer(o)
	return nil
}
