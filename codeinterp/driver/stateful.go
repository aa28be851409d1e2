package driver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Stateful interpreter also keeps contexts, each in a session.
type Stateful struct{ *Interpreter }

var (
	_ codeinterp.StatefulInterpreter = (*Stateful)(nil)
	_ codeinterp.ContextManager      = (*Stateful)(nil)
	_ codeinterp.Describer           = (*Stateful)(nil)
)

// NewStateful returns an interpreter with contexts of a runtime, which it owns.
func NewStateful(rt Runtime, cfg Config) *Stateful { return &Stateful{New(rt, cfg)} }

// Describe implements codeinterp.Describer: what the runtime says, with the
// driver's limits.
func (i *Stateful) Describe() codeinterp.Info { return i.describe() }

// CreateContext implements codeinterp.StatefulInterpreter.
func (i *Stateful) CreateContext(ctx context.Context, language string, opts *codeinterp.ContextOptions) (id codeinterp.ContextID, err error) {
	defer i.wrap(ctx, codeinterp.OpCreate, &err)
	name, err := i.resolve(language)
	if err != nil {
		return "", err
	}
	if !i.language(name).Contexts {
		return "", fmt.Errorf("%w: %s has no contexts here", codeinterp.ErrLanguage, name)
	}
	o, err := codeinterp.CheckContext(opts)
	if err != nil {
		return "", err
	}
	if err := i.checkAbilities(name, &codeinterp.RunOptions{Functions: o.Functions, Files: o.Files}); err != nil {
		return "", err
	}
	s := i.newContext()
	files := o.Files
	// The driver handles functions and files; sessions do not see them.
	s.functions, o.Functions, o.Files = o.Functions, nil, nil
	s.opts.Language, s.opts.ContextOptions = name, o
	return i.open(ctx, s, files, func(ctx context.Context) (Attached, error) {
		session, err := i.rt.Start(ctx, s.opts)
		return Attached{Session: session, Language: name, Options: o, Empty: true}, err
	})
}

func (i *Stateful) newContext() *slot {
	s := newSlot(i.Interpreter, Options{})
	s.id, s.gone = codeinterp.ContextID(rand.Text()), make(chan struct{})
	s.opts.ID = s.id
	s.created = time.Now()
	s.used = s.created
	return s
}

// open makes a context of the session that start returns. The caller holds the turn of
// s.
func (i *Stateful) open(ctx context.Context, s *slot, files fs.FS, start func(context.Context) (Attached, error)) (codeinterp.ContextID, error) {
	if err := i.addSlot(ctx, s); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeoutCause(ctx, i.cfg.StartLimit, errStart)
	defer cancel()
	a, err := callInSlot(s, limited, func(ctx context.Context) (Attached, error) {
		if err := i.pause.enter(ctx); err != nil {
			return Attached{}, err
		}
		defer i.pause.leave()
		return s.fill(ctx, files, start)
	},
		func(a Attached, _ error) { s.closeReturned(a.Session) })
	// It may start later and is closed then; until then Stuck counts it.
	if errors.Is(err, errStuck) {
		s.countStuck()
	}
	if err == nil {
		s.setSession(a.Session)
		s.opts.Language, s.opts.ContextOptions = a.Language, a.Options
		s.cwd = cmp.Or(s.cwd, a.Options.Cwd)
		s.fresh, s.lossReported, s.runs = a.Empty, a.Empty, a.Runs
		err = i.register(s)
	}
	if err != nil {
		s.terminate(codeinterp.ErrContext)
		s.release()
		return "", err
	}
	s.release()
	return s.id, nil
}

// fill starts a session and writes its files. If it fails, it closes the session.
func (s *slot) fill(ctx context.Context, files fs.FS, start func(context.Context) (Attached, error)) (a Attached, err error) {
	// A Filer or the source of files may panic or end this goroutine.
	err = errNoReturn
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
		if err != nil && a.Session != nil {
			err = joined([]error{err, s.in.closeUnused(a.Session)})
			a.Session = nil
		}
	}()
	started, failed := start(ctx)
	if a = started; failed != nil && ctx.Err() != nil {
		failed = context.Cause(ctx)
	}
	if rt, ok := s.in.rt.(Filer); ok && files != nil && failed == nil {
		var dir codeinterp.FS
		if dir, failed = rt.Files(a.Session); failed == nil {
			failed = copyFiles(ctx, dir, files)
		}
	}
	if cwd, ok := s.place(a.Session); ok && failed == nil {
		s.mu.Lock()
		s.cwd = cwd
		s.mu.Unlock()
	}
	return a, failed
}

// register makes a context known to callers.
func (i *Interpreter) register(s *slot) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return codeinterp.ErrClosed
	}
	i.created++
	s.number = i.created
	i.contexts[s.id] = s
	return nil
}

// find returns a context. Errors of the call itself go before ErrContext.
func (i *Interpreter) find(ctx context.Context, id codeinterp.ContextID) (*slot, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.checkOpen(ctx); err != nil {
		return nil, err
	}
	s := i.contexts[id]
	if s == nil {
		return nil, codeinterp.ErrContext
	}
	return s, nil
}

// RunInContext implements codeinterp.StatefulInterpreter.
func (i *Stateful) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (res codeinterp.Result, err error) {
	defer i.wrap(ctx, codeinterp.OpRunIn, &err)
	defer closeInput(opts)
	o, err := codeinterp.CheckRun(code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	s, err := i.find(ctx, id)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	if err := cmp.Or(i.pause.check(), i.checkCapacity()); err != nil {
		return codeinterp.NotRun(), err
	}
	if err := i.checkAbilities(s.opts.Language, &o); err != nil {
		return codeinterp.NotRun(), err
	}
	return newRun(s, ctx, &o, code).inTurn()
}

// inTurn runs the program of a context in its turn.
func (r *run) inTurn() (codeinterp.Result, error) {
	if r.slot.awaits(r.ctx) {
		return codeinterp.NotRun(), errSelf
	}
	if err := r.slot.acquire(r.ctx, r); err != nil {
		return codeinterp.NotRun(), err
	}
	return r.run()
}

// DeleteContext implements codeinterp.StatefulInterpreter. If ctx has ended, it
// deletes without waiting. Its error says what could not be ended.
func (i *Stateful) DeleteContext(ctx context.Context, id codeinterp.ContextID) (err error) {
	defer i.wrap(ctx, codeinterp.OpDelete, &err)
	s, err := i.find(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	if !i.removeContext(s) {
		return codeinterp.ErrContext // another call was faster
	}
	s.terminate(codeinterp.ErrContext)
	select {
	case <-s.gone:
		return s.goneErr
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.gone:
		return s.goneErr
	default:
		s.noWaiter = true
		return context.Cause(ctx)
	}
}

// ListContexts implements codeinterp.ContextManager.
func (i *Stateful) ListContexts(ctx context.Context) ([]codeinterp.ContextInfo, error) {
	i.mu.Lock()
	err := i.checkOpen(ctx)
	slots := slices.SortedFunc(maps.Values(i.contexts), func(a, b *slot) int { return cmp.Compare(a.number, b.number) })
	i.mu.Unlock()
	if err != nil {
		return nil, i.wrapped(ctx, codeinterp.OpList, err)
	}
	list := make([]codeinterp.ContextInfo, 0, len(slots))
	for _, s := range slots {
		list = append(list, s.info())
	}
	return list, nil
}

func (s *slot) info() codeinterp.ContextInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return codeinterp.ContextInfo{ID: s.id, Language: s.opts.Language, Cwd: s.cwd, Created: s.created, LastUsed: s.used,
		Busy: s.current != nil, Queued: len(s.queue)}
}

// RestartContext implements codeinterp.ContextManager. If ctx has ended, it restarts
// without waiting. Its error says what could not be ended.
func (i *Stateful) RestartContext(ctx context.Context, id codeinterp.ContextID) (err error) {
	defer i.wrap(ctx, codeinterp.OpRestart, &err)
	s, err := i.find(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	s.mu.Lock()
	if s.ended != nil {
		defer s.mu.Unlock()
		return s.ended
	}
	s.restarts = append(s.restarts, done)
	s.wakeRun()
	// If the turn is free, release makes the restart.
	free := !s.held
	s.held = true
	s.mu.Unlock()
	if free {
		go s.release()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	default:
		return context.Cause(ctx)
	}
}

// InterruptContext implements codeinterp.ContextManager. If the program has not
// started, the interrupt is kept until it does.
func (i *Stateful) InterruptContext(ctx context.Context, id codeinterp.ContextID) (err error) {
	defer i.wrap(ctx, codeinterp.OpInterrupt, &err)
	s, err := i.find(ctx, id)
	if err == nil {
		err = i.pause.check()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.current == nil || s.ended != nil {
		defer s.mu.Unlock()
		return s.ended
	}
	done := make(chan struct{})
	s.interrupts = append(s.interrupts, done)
	s.wakeRun()
	s.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// As finds the optional groups of codeinterp: the driver's own, and those of the
// runtime.
func (i *Stateful) As(target any) (ok bool) {
	switch of := target.(type) {
	case *codeinterp.ContextManager:
		*of, ok = i, true
	case *codeinterp.ContextFiles:
		rt, _ := i.rt.(Filer)
		*of, ok = contextFiles{i, rt}, len(i.withFiles) > 0
	case *codeinterp.Completer:
		*of, ok = i.completes()
	case *codeinterp.ContextForker:
		*of, ok = i.forks()
	case *codeinterp.ContextAttacher:
		*of, ok = i.attaches()
	default:
		if i.Interpreter.As(target) {
			return true
		}
		rt, is := i.rt.(interface{ As(target any) bool })
		return is && rt.As(target)
	}
	return ok
}
