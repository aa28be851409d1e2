//go:build unix

package subprocess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// start begins a run: what comes from now on is its output. There must be no
// run in progress, and the process must have said hello or be about to. Of a
// large program the rest is still to be sent.
func (p *process) start(out *driver.Output, of *driver.Program, prog *program, stdin string) (*run, error) {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return nil, fmt.Errorf("%w: the process of %s is gone", codeinterp.ErrUnavailable, p.lang.Name)
	}
	p.runs++
	of.Room = p.unread.Wait
	r := newRun(out, of, prog)
	// No counter: what earlier runs left behind could write the end of this one, or
	// call its functions.
	r.p, r.seq, prog.cell = p, 1+rand.IntN(math.MaxInt), p.runs
	p.run, p.early = r, nil
	p.mu.Unlock()
	b := encode(frameRun, append([]string{strconv.Itoa(r.seq), prog.code, stdin}, pairs(of.Env)...)...)
	b = append(p.offer(of.Functions()), b...)
	// Interrupts wait for start, so that it sends no more than the socket takes at
	// once.
	if len(b) > chunk {
		r.rest = b
		return r, nil
	}
	return r, p.write(b)
}

func newRun(out *driver.Output, of *driver.Program, prog *program) *run {
	r := &run{out: out, prog: prog, done: make(chan struct{}), ending: make(chan struct{}), calls: newRunCalls(of)}
	r.over = sync.OnceFunc(func() {
		close(r.ending)
		of.End()
	})
	return r
}

// handOver sends what start has left. It fails only with the process, which
// ends the run.
func (p *process) handOver(r *run) {
	if err := p.write(r.rest); err != nil {
		p.sb.Kill()
	}
	r.rest = nil
}
