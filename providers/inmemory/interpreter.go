package inmemory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

const provider = "inmemory"

// An Interpreter runs each program in a fresh instance of its engine.
type Interpreter struct {
	opts      Options
	languages map[string]*language
	names     []string
	slots     *scheduler
	budget    *budget
	workers   workers

	life    context.Context // ends with Close
	end     context.CancelCauseFunc
	pending sync.WaitGroup // calls in progress
	release sync.Once

	abandoned atomic.Int32

	mu     sync.Mutex
	closed bool
	active map[*run]struct{}
}

var (
	_ codeinterp.CodeInterpreter = (*Interpreter)(nil)
	_ codeinterp.Describer       = (*Interpreter)(nil)
)

// New returns a stateless interpreter. o may be nil.
func New(o *Options) (*Interpreter, error) {
	p, err := newInterpreter(o)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "open", Err: err}
	}
	return p, nil
}

func newInterpreter(o *Options) (*Interpreter, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	all, names, err := languages(&opts)
	if err != nil {
		return nil, err
	}
	p := &Interpreter{active: map[*run]struct{}{}, opts: opts, languages: all, names: names,
		slots: newScheduler(opts.MaxRunning), budget: &budget{max: opts.MaxMemory}}
	p.workers.max = opts.MaxRunning
	p.life, p.end = context.WithCancelCause(context.Background())
	return p, nil
}

// Languages implements codeinterp.CodeInterpreter.
func (p *Interpreter) Languages() []string { return slices.Clone(p.names) }

// RunCode implements codeinterp.CodeInterpreter.
func (p *Interpreter) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := p.runCode(ctx, language, code, opts)
	return res, wrap("run", err)
}

func (p *Interpreter) runCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	name, err := codeinterp.ResolveLanguage(language, p.names)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	o, err := codeinterp.CheckRun(code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	if err := p.enter(ctx); err != nil {
		return codeinterp.NotRun(), err
	}
	defer p.pending.Done()
	if err := p.acquire(ctx, p.life); err != nil {
		return codeinterp.NotRun(), err
	}
	inst, err := p.languages[name].instance(p.budget, memfs.New(&p.opts.Files), ".")
	if err != nil {
		p.slots.release()
		return codeinterp.NotRun(), err
	}
	r := newRun(ctx, p.slots, o)
	program := engine.Program{Name: "program" + extension(name), Code: code, Stdin: o.Stdin, Env: env(o.Env)}
	res, abandoned, err := p.execute(r, inst, program, p.life)
	if !abandoned {
		inst.Close()
	}
	res.StateLost = false
	return res, err
}

// enter registers a call, which must end with pending.Done.
func (p *Interpreter) enter(ctx context.Context) error {
	if err := p.enterAlways(ctx); err != nil {
		return err
	}
	if n := p.Abandoned(); n >= p.opts.MaxAbandoned {
		p.pending.Done()
		return fmt.Errorf("%w: %d engines could not be stopped and still run", codeinterp.ErrCapacity, n)
	}
	return nil
}

// enterAlways is enter for calls that run nothing.
func (p *Interpreter) enterAlways(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return codeinterp.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	p.pending.Add(1)
	return nil
}

// acquire waits for a slot until ctx or life ends.
func (p *Interpreter) acquire(ctx, life context.Context) error {
	if p.slots.tryAcquire() {
		return nil
	}
	both, cancel := join(ctx, life)
	defer cancel(nil)
	if !p.slots.acquire(both) {
		return context.Cause(both)
	}
	if both.Err() != nil {
		p.slots.release()
		return context.Cause(both)
	}
	return nil
}

// join returns a context that ends with either of the two, with its cause.
func join(ctx, life context.Context) (context.Context, context.CancelCauseFunc) {
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	return both, func(err error) { stop(); cancel(err) }
}

// execute runs a program in an instance. The run holds a slot, which execute
// gives back. abandoned tells that the instance must not be touched again.
func (p *Interpreter) execute(r *run, inst engine.Instance, program engine.Program, life context.Context) (res codeinterp.Result, abandoned bool, err error) {
	defer r.stop(nil)
	p.track(r, true)
	defer p.track(r, false)
	if life.Err() != nil {
		r.stop(context.Cause(life))
	}
	started := time.Now()
	r.since = started
	if r.opts.Timeout > 0 {
		defer time.AfterFunc(r.opts.Timeout, func() { r.stop(errTimeout) }).Stop()
	}
	j := &job{inst: inst, program: program, run: r}
	p.workers.start(j)
	var out engine.Outcome
	ok := true
	select {
	case out = <-j.done:
	case <-r.ctx.Done():
		out, ok = r.giveUp(j.done)
	}
	if !ok {
		if abandoned = p.abandon(j); !abandoned {
			out = <-j.done
		}
	}
	if abandoned {
		res, err = r.lost(started)
		return res, true, err
	}
	res, err = r.result(out, started)
	r.leave()
	return res, false, err
}

// track adds a run to those that Close ends, or removes it.
func (p *Interpreter) track(r *run, active bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if active {
		p.active[r] = struct{}{}
	} else {
		delete(p.active, r)
	}
}

// lost is the result of a run whose engine was abandoned.
func (r *run) lost(started time.Time) (codeinterp.Result, error) {
	var res codeinterp.Result
	err := r.stopped(&res, context.Cause(r.ctx), true)
	res.Status, res.ExitCode, res.StateLost, res.Duration = codeinterp.StatusLost, codeinterp.ExitKilled, true, time.Since(started)
	r.batch.mu.Lock()
	if len(r.batch.buf) > 0 {
		r.out.Write(r.batch.kind, r.batch.buf)
	}
	r.batch.mu.Unlock()
	r.out.Finish(&res)
	return res, err
}

// abandon leaves an engine to itself. It returns false if the engine has
// returned after all.
func (p *Interpreter) abandon(j *job) bool {
	p.abandoned.Add(1)
	if !j.abandon(func() {
		j.inst.Close()
		p.abandoned.Add(-1)
	}) {
		p.abandoned.Add(-1)
		return false
	}
	return true
}

// Abandoned returns how many engines could not be stopped and still run.
func (p *Interpreter) Abandoned() int {
	return int(p.abandoned.Load())
}

// Close implements codeinterp.CodeInterpreter. Engines that could not be
// stopped run on.
func (p *Interpreter) Close() error {
	p.end(codeinterp.ErrClosed)
	p.mu.Lock()
	p.closed = true
	for r := range p.active {
		r.stop(codeinterp.ErrClosed)
	}
	p.mu.Unlock()
	p.pending.Wait()
	p.release.Do(func() {
		p.workers.close()
		for _, l := range p.languages {
			l.close()
		}
	})
	return nil
}

// wrap puts an *Error around what goes out of the provider.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if e := (*codeinterp.Error)(nil); errors.As(err, &e) && e.Provider == provider {
		return err
	}
	return &codeinterp.Error{Provider: provider, Op: op, Err: err}
}

// env merges environments, later ones first.
func env(all ...map[string]string) map[string]string {
	var merged map[string]string
	for _, m := range all {
		if merged == nil && len(m) > 0 {
			merged = map[string]string{}
		}
		maps.Copy(merged, m)
	}
	return merged
}

// extension is the usual one of a language's files.
func extension(language string) string {
	switch language {
	case "javascript":
		return ".js"
	case "typescript":
		return ".ts"
	case "python":
		return ".py"
	}
	return ""
}
