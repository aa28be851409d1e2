package subprocess

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/subprocess/internal/spool"
)

// A keptRun is a run in a keeper.
type keptRun struct {
	spool  *spool.Spool
	begun  chan struct{} // closed when the program has begun
	done   chan struct{} // closed when it has ended, or never begins
	cancel context.CancelFunc
	holder <-chan struct{} // closed when the host that started it has gone

	// Set before done is closed.
	end  keptEnd
	lost []codeinterp.Truncation

	timedOut atomic.Bool
	got      bool // a host has got the end; guarded by keptContext.mu
	k        *keptContext
}

// start starts a run. The host that asks for it has got the end of the last one.
func (k *keptContext) start(q *keptRequest) (*keptRun, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.run != nil {
		select {
		case <-k.run.done:
		default:
			return nil, fmt.Errorf("%w: a run is in progress", codeinterp.ErrCapacity)
		}
	}
	r := &keptRun{spool: spool.New(k.order.Spool), begun: make(chan struct{}), done: make(chan struct{}), holder: k.holder, k: k}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(k.life)
	if k.run = r; r.holder == nil {
		gone := make(chan struct{})
		close(gone)
		r.holder = gone
	}
	go r.execute(ctx, q)
	return r, nil
}

// execute runs the program to its end.
func (r *keptRun) execute(ctx context.Context, q *keptRequest) {
	defer close(r.done)
	defer r.cancel()
	p := &driver.Program{Code: q.Code, Stdin: q.Stdin, Env: q.Env, Artifacts: q.Artifacts, Network: q.Network}
	if q.HasStdin && p.Stdin == nil {
		p.Stdin = []byte{}
	}
	begin := time.Now()
	p.OnBegin = func() {
		select {
		case <-r.begun:
			return
		default:
		}
		late := r.k.takeLate()
		for _, o := range late.Outputs {
			r.spool.Add(o)
		}
		r.lost = append(r.lost, late.Truncated...)
		r.k.mu.Lock()
		r.k.started = true
		r.k.mu.Unlock()
		begin = time.Now()
		close(r.begun)
		if q.Timeout > 0 {
			go r.watch(q.Timeout)
		}
	}
	out := driver.NewRelay(func(o codeinterp.Output) error { r.spool.Add(o); return nil },
		func(t codeinterp.Truncation) {
			if len(r.lost) < maxLost {
				r.lost = append(r.lost, t)
			}
		})
	o, err := r.k.s.Run(ctx, p, out)
	out.Finish(&codeinterp.Result{})
	r.end.Outcome, r.end.Err, r.end.Unknown, r.end.Duration = o, newKeptError(err), newKeptError(o.Unknown), time.Since(begin)
	r.end.Outcome.Unknown, r.end.TimedOut = nil, r.timedOut.Load()
	r.k.mu.Lock()
	if o.Fresh {
		r.k.runs = 0
	}
	r.k.runs++
	r.end.Outcome.Count = r.k.runs
	r.k.mu.Unlock()
	r.spool.End()
}

// maxLost is how many losses of a run are kept apart from those of the spool.
const maxLost = 1000

// watch stops the program at its timeout, if the host that does so has gone.
func (r *keptRun) watch(timeout time.Duration) {
	select {
	case <-time.After(timeout):
	case <-r.done:
		return
	}
	select {
	case <-r.holder:
	case <-r.done:
		return
	}
	r.timedOut.Store(true)
	_ = r.k.s.Interrupt(r.k.life)
	select {
	case <-time.After(r.k.h.opts.Grace):
		r.cancel()
	case <-r.done:
	}
}

// stream sends the output of a run to a host, and its end, which the host confirms.
func (r *keptRun) stream(c *keptConn, after int) {
	in := r.spool.Read(after)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer in.Close()
		if q := (keptRequest{}); c.in.Decode(&q) == nil {
			r.k.mu.Lock()
			r.got = true
			r.k.mu.Unlock()
		}
	}()
	select {
	case <-r.begun:
	case <-r.done:
	case <-gone:
		return
	}
	select {
	case <-r.begun:
		if c.out.Encode(&keptReply{Begun: true}) != nil {
			return
		}
	default:
	}
	if !r.streamOutput(c, in) {
		return
	}
	select {
	case <-r.done:
	case <-gone:
		return
	}
	for _, t := range r.lost {
		_ = c.out.Encode(&keptReply{Lost: &t})
	}
	_ = c.SetDeadline(time.Now().Add(keptPatience))
	_ = c.out.Encode(&keptReply{End: &r.end})
	<-gone
}

// streamOutput sends what a reader reads, and reports whether it could.
func (r *keptRun) streamOutput(c *keptConn, in *spool.Reader) bool {
	for {
		o, gap, ok := in.Next()
		if gap.Last > 0 {
			text := fmt.Sprintf("Outputs %d to %d of this run are missing: the last %d bytes are kept.\n", gap.First, gap.Last, r.k.order.Spool)
			_ = c.out.Encode(&keptReply{Output: &codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(text), Late: true}})
			for _, t := range gap.Lost {
				_ = c.out.Encode(&keptReply{Lost: &t})
			}
		}
		if !ok {
			return true
		}
		if c.out.Encode(&keptReply{Output: &o}) != nil {
			return false
		}
	}
}
