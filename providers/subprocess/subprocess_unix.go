//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
	"github.com/toolcell/toolcell/internal/sandbox"
)

const provider = "subprocess"

// An Interpreter runs each program in a process of its own.
type Interpreter struct {
	opts      Options
	sandbox   *sandbox.Sandbox
	languages map[string]*language
	names     []string
	warm      map[string]*pool

	life   context.Context // ends with Close
	cancel context.CancelCauseFunc
	mu     sync.Mutex // guards the start of calls against Close
	closed bool
	active sync.WaitGroup // calls and contexts
	once   sync.Once
	err    error // of Close
}

var _ codeinterp.CodeInterpreter = (*Interpreter)(nil)

// New returns an interpreter without contexts. opts may be nil. It fails with
// codeinterp.ErrUnavailable where no language is found, or not one that opts
// lists, and with codeinterp.ErrIsolation where the isolation cannot be had.
func New(opts *Options) (*Interpreter, error) {
	i, err := open(opts, false)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "new", Err: err}
	}
	return i, nil
}

func open(opts *Options, stateful bool) (*Interpreter, error) {
	i := &Interpreter{}
	if opts != nil {
		i.opts = *opts
	}
	if err := i.opts.complete(); err != nil {
		return nil, err
	}
	list, err := i.opts.table(stateful)
	if err != nil {
		return nil, err
	}
	if i.sandbox, err = sandbox.New(i.opts.sandbox()); err != nil {
		return nil, err
	}
	i.life, i.cancel = context.WithCancelCause(context.Background())
	if err := i.choose(list); err != nil {
		return nil, errors.Join(err, i.sandbox.Close())
	}
	if err := i.heat(); err != nil {
		return nil, errors.Join(err, i.shut())
	}
	return i, nil
}

// choose finds the interpreters of the languages. Where the caller listed them,
// all have to be found, else at least one.
func (i *Interpreter) choose(list []Language) error {
	var wg sync.WaitGroup
	found, errs := make([]*language, len(list)), make([]error, len(list))
	for n, l := range list {
		wg.Go(func() { found[n], errs[n] = find(l, i.sandbox, i.try) })
	}
	wg.Wait()
	i.languages = map[string]*language{}
	for n, l := range list {
		if found[n] != nil {
			i.languages[l.Name] = found[n]
		}
	}
	i.names = slices.Sorted(maps.Keys(i.languages))
	if i.opts.Languages != nil || len(i.names) == 0 {
		return errors.Join(errs...)
	}
	return nil
}

// try starts l once, inside the sandbox.
func (i *Interpreter) try(l *language) error {
	ctx, cancel := context.WithTimeout(i.life, maxProbe)
	defer cancel()
	if l.Driver == nil {
		return nil
	}
	p, err := i.launch(l, &place{once: true})
	if err != nil {
		return err
	}
	defer p.kill()
	runtime, err := p.greeting(ctx)
	if err == nil {
		l.learn(runtime)
	}
	return err
}

// Languages lists the languages whose interpreter was found and works.
func (i *Interpreter) Languages() []string { return slices.Clone(i.names) }

// enter begins a call, which Close waits for.
func (i *Interpreter) enter() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return codeinterp.ErrClosed
	}
	i.active.Add(1)
	return nil
}

// admit checks a run's arguments and begins the call.
func (i *Interpreter) admit(ctx context.Context, code string, opts *codeinterp.RunOptions) (codeinterp.RunOptions, error) {
	o, err := codeinterp.CheckRun(code, opts)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = i.enter()
	}
	return o, err
}

// RunCode runs code in a fresh process, with a working directory of its own,
// which are both gone when it returns. See [codeinterp.CodeInterpreter].
func (i *Interpreter) RunCode(ctx context.Context, name, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := i.runCode(ctx, name, code, opts)
	return res, wrap("run", err)
}

func (i *Interpreter) runCode(ctx context.Context, name, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	l, err := i.resolve(name)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	o, err := i.admit(ctx, code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	defer i.active.Done()
	out := outbuf.New(&o)
	pr := l.prepare(code)
	if pr.failed != nil {
		return pr.refused(out), nil
	}
	p, err := i.fresh(ctx, l, &o, pr)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	defer p.kill()
	x := &execution{p: p, opts: &o, out: out, prog: pr, life: i.life, once: true}
	return x.run(ctx)
}

// resolve returns the language that the name means.
func (i *Interpreter) resolve(name string) (*language, error) {
	if i.life.Err() != nil {
		return nil, codeinterp.ErrClosed
	}
	for _, l := range i.languages {
		if slices.Contains(l.Aliases, name) {
			return l, nil
		}
	}
	resolved, err := codeinterp.ResolveLanguage(name, i.names)
	if err != nil {
		return nil, err
	}
	return i.languages[resolved], nil
}

// Close ends every run and every process, and removes what they lived in.
func (i *Interpreter) Close() error {
	i.once.Do(func() { i.err = wrap("close", i.shut()) })
	return i.err
}

func (i *Interpreter) shut() error {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.cancel(codeinterp.ErrClosed)
	for _, w := range i.warm {
		w.close()
	}
	i.active.Wait()
	return i.sandbox.Close()
}

// wrap puts the provider's boundary around an error.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &codeinterp.Error{Provider: provider, Op: op, Err: err}
}

// complete validates o, copies what it refers to and fills in the defaults.
func (o *Options) complete() error {
	if o.Grace < 0 || o.MaxContexts < 0 {
		return fmt.Errorf("%w: negative Grace or MaxContexts", codeinterp.ErrInvalid)
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.MaxContexts == 0 {
		o.MaxContexts = defaultMaxContexts
	}
	checked, err := codeinterp.CheckContext(&codeinterp.ContextOptions{Env: o.Env})
	o.Env = checked.Env
	o.Languages = slices.Clone(o.Languages)
	o.ReadOnly, o.Writable = slices.Clone(o.ReadOnly), slices.Clone(o.Writable)
	return err
}

// table returns the languages to look for.
func (o *Options) table(stateful bool) ([]Language, error) {
	list := o.Languages
	if list == nil {
		list = []Language{Python(), JavaScript(), TypeScript(), Bash()}
	}
	for n, l := range list {
		if err := l.check(); err != nil {
			return nil, err
		}
		if stateful && l.Driver == nil {
			return nil, fmt.Errorf("%w: language %s has no Driver, which contexts need; offer it by New", codeinterp.ErrInvalid, l.Name)
		}
		if slices.ContainsFunc(list[:n], func(k Language) bool { return k.Name == l.Name }) {
			return nil, fmt.Errorf("%w: language %s is listed twice", codeinterp.ErrInvalid, l.Name)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: an empty list of Languages", codeinterp.ErrInvalid)
	}
	return list, nil
}

// sandbox returns the options of the sandbox.
func (o *Options) sandbox() *sandbox.Options {
	return &sandbox.Options{
		Require: o.Require, AllowNone: o.AllowNone, Network: o.Network,
		ReadOnly: o.ReadOnly, Writable: o.Writable,
		Limits: o.Limits, UID: o.UID, GID: o.GID, Cgroup: o.Cgroup, TempDir: o.TempDir,
	}
}
