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
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/providers/subprocess/internal/cells"
)

// start begins a run: what comes from now on is its output. There must be no other run
// in progress, and the process must have said hello or be about to.
func (p *process) start(out *driver.Output, of *driver.Program) (*run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return nil, fmt.Errorf("%w: the process of %s is gone", codeinterp.ErrUnavailable, p.lang.Name)
	}
	p.runs++
	r := newRun(out, of, &cells.Program{Code: of.Code, Cell: p.runs})
	// No counter: what earlier runs left behind could write the end of this one, or
	// call its functions.
	r.p, r.seq = p, 1+rand.IntN(math.MaxInt)
	p.run = r
	p.place.beginRun(of)
	return r, nil
}

// submit sends the run's program. It fails only with the process, which ends the run.
func (p *process) submit(r *run, stdin string) {
	of := r.calls.prog
	b := frames.Encode(frames.Run, append([]string{strconv.Itoa(r.seq), r.prog.Code, stdin}, pairs(of.Env)...)...)
	if err := p.write(append(p.offer(of.Functions()), b...)); err != nil {
		p.sb.Kill()
	}
}

// abandon ends a run whose program the driver does not get.
func (p *process) abandon(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == r {
		p.run, p.runs = nil, p.runs-1
		close(r.done)
	}
}

func newRun(out *driver.Output, of *driver.Program, prog *cells.Program) *run {
	r := &run{out: out, prog: prog, done: make(chan struct{}), ending: make(chan struct{}), calls: newRunCalls(of)}
	r.over = sync.OnceFunc(func() {
		close(r.ending)
		of.End()
	})
	return r
}
