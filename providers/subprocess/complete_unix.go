//go:build unix

package subprocess

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/frames"
)

var _ driver.Completer = (*host)(nil)

// Complete implements driver.Completer. A completer's work is bounded and calls nothing
// of the program, so an answer that comes too late is dropped.
func (h *host) Complete(ctx context.Context, of driver.Session, code string, cursor int) (codeinterp.Completion, error) {
	s := of.(*session)
	p := s.p
	if p == nil || !alive(p.sb) {
		return codeinterp.Completion{}, nil
	}
	// What a completer looks at is near.
	from := max(0, cursor-maxCompleted)
	for from > 0 && !utf8.RuneStart(code[from]) {
		from++
	}
	number, answer, err := p.completer.expect()
	if err != nil {
		return codeinterp.Completion{}, err
	}
	asked := p.trySend(frames.Complete, strconv.Itoa(number), s.lang.Driver.Completer, code[from:cursor], strconv.Itoa(cursor-from))
	defer p.completer.forget(asked)
	// It does not read, so that something must keep its main thread busy.
	if !asked && alive(p.sb) {
		return codeinterp.Completion{}, errComputes
	}
	select {
	case c := <-answer:
		c.Start, c.End = c.Start+from, c.End+from
		return c, nil
	case <-p.gone:
		return codeinterp.Completion{}, nil
	case <-ctx.Done():
		return codeinterp.Completion{}, context.Cause(ctx)
	}
}

// maxCompleted is how many bytes before the cursor a completer gets.
const maxCompleted = 4 << 10

// A completer waits for the answer of a process's driver.
type completer struct {
	mu     sync.Mutex
	number int                        // of the last question
	open   bool                       // it was not answered
	answer chan codeinterp.Completion // nil while no caller waits
}

var errComputes = fmt.Errorf("%w: something of an earlier program computes", codeinterp.ErrCapacity)

// expect announces an answer. Its number cannot be guessed by what earlier runs
// left behind.
func (c *completer) expect() (int, <-chan codeinterp.Completion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// What an earlier program left running may keep the driver from reading; that
	// is not to fill the channel.
	if c.open {
		return 0, nil, errComputes
	}
	c.number, c.open, c.answer = 1+rand.IntN(math.MaxInt), true, make(chan codeinterp.Completion, 1)
	return c.number, c.answer, nil
}

// forget ends the wait for an answer. One that was not asked for never comes.
func (c *completer) forget(asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer, c.open = nil, c.open && asked
}

// completed takes an answer. One that no caller waits for is late.
func (p *process) completed(f *frames.Frame) error {
	c := &p.completer
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Number(0) != c.number {
		return nil
	}
	c.open = false
	if c.answer == nil {
		return nil
	}
	c.answer <- codeinterp.Completion{Start: f.Number(1), End: f.Number(2), Matches: strings.Split(string(f.Field(3)), "\n")}
	c.answer = nil
	return nil
}
