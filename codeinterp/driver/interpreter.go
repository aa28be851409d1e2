package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Interpreter runs each program in a session of its own.
type Interpreter struct {
	rt        Runtime
	cfg       Config
	provider  string
	languages []codeinterp.LanguageInfo
	names     []string // of languages, sorted
	withFiles []string // those of them whose programs have files
	workers   workers
	pause     pause

	over     chan struct{} // closed when Close is done
	closeErr error         // of that

	mu       sync.Mutex
	closed   bool
	live     map[*slot]struct{}             // from before their start until they are disposed of
	kept     int                            // those of live that are contexts
	created  int64                          // contexts so far
	contexts map[codeinterp.ContextID]*slot // those that callers know
	empty    chan struct{}                  // closed when the interpreter is closed and live is empty
	stuck    int                            // abandoned sessions that have not returned
	left     []error                        // of sessions that could not be closed
}

var (
	_ codeinterp.CodeInterpreter = (*Interpreter)(nil)
	_ codeinterp.Describer       = (*Interpreter)(nil)
)

// maxLeft is how many errors of sessions Close returns.
const maxLeft = 8

// New returns an interpreter without contexts of a runtime, which it owns.
func New(rt Runtime, cfg Config) *Interpreter {
	cfg.Grace = cmp.Or(max(cfg.Grace, 0), 2*time.Second)
	cfg.Patience = cmp.Or(max(cfg.Patience, 0), 10*time.Second)
	cfg.StartLimit = cmp.Or(max(cfg.StartLimit, 0), 2*time.Minute)
	info := rt.Describe()
	_, filer := rt.(Filer)
	all := !info.HasFiles("") // a Filer that names no language has files in all
	i := &Interpreter{rt: rt, cfg: cfg, provider: info.Provider, languages: info.Languages,
		live: map[*slot]struct{}{}, contexts: map[codeinterp.ContextID]*slot{}, empty: make(chan struct{}), over: make(chan struct{}), pause: pause{changing: semaphore.NewWeighted(1), starts: semaphore.NewWeighted(allStarts)}}
	for _, l := range i.languages {
		i.names = append(i.names, l.Name)
		if filer && (all || l.Files) {
			i.withFiles = append(i.withFiles, l.Name)
		}
	}
	slices.Sort(i.names)
	return i
}

// Languages implements codeinterp.CodeInterpreter.
func (i *Interpreter) Languages() []string { return slices.Clone(i.names) }

// Describe implements codeinterp.Describer: what the runtime says, with the
// driver's limits.
func (i *Interpreter) Describe() codeinterp.Info {
	info := i.describe()
	// Stateful has a Describe of its own.
	info.ContextIdle, info.Limits.Contexts = 0, 0
	for n := range info.Languages {
		info.Languages[n].Contexts = false
	}
	return info
}

func (i *Interpreter) describe() codeinterp.Info {
	info := i.rt.Describe()
	info.Lateness, info.StartLimit, info.ContextIdle = i.cfg.Grace+i.cfg.Patience, i.cfg.StartLimit, i.cfg.Idle
	info.Limits.Contexts = i.cfg.MaxContexts
	info.Languages = slices.Clone(info.Languages)
	for n, l := range info.Languages {
		info.Languages[n].Files = slices.Contains(i.withFiles, l.Name)
	}
	if n := i.Stuck(); n > 0 {
		info.Isolation.Reasons = append(slices.Clip(info.Isolation.Reasons), stuckReason(n))
	}
	return info
}

// RunCode implements codeinterp.CodeInterpreter.
func (i *Interpreter) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (res codeinterp.Result, err error) {
	defer i.wrap(ctx, codeinterp.OpRun, &err)
	// Even if the run is refused, so that a writer into a pipe does not block.
	defer closeInput(opts)
	name, err := i.resolve(language)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	o, err := codeinterp.CheckRun(code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	if err := i.checkAbilities(name, &o); err != nil {
		return codeinterp.NotRun(), err
	}
	s := newSlot(i, Options{Language: name, Once: true})
	s.caller = ctx
	if err := i.addSlot(ctx, s); err != nil {
		return codeinterp.NotRun(), err
	}
	return newRun(s, ctx, &o, code).run()
}

// resolve returns the language of a name or an alias.
func (i *Interpreter) resolve(name string) (string, error) {
	for _, l := range i.languages {
		if slices.ContainsFunc(l.Aliases, func(a string) bool { return strings.EqualFold(a, strings.TrimSpace(name)) }) {
			return l.Name, nil
		}
	}
	return codeinterp.ResolveLanguage(name, i.names)
}

// language returns what the runtime said of a language, by its name.
func (i *Interpreter) language(name string) codeinterp.LanguageInfo {
	for _, l := range i.languages {
		if l.Name == name {
			return l
		}
	}
	return codeinterp.LanguageInfo{}
}

// checkAbilities refuses what programs of a language cannot have here.
func (i *Interpreter) checkAbilities(language string, o *codeinterp.RunOptions) error {
	if len(o.Functions) == 0 && o.Input == nil && o.Files == nil && !o.Artifacts && o.Network == nil {
		return nil
	}
	has, what := i.language(language), ""
	switch {
	case len(o.Functions) > 0 && !has.Functions:
		what = "cannot call functions here; run without Functions"
	case o.Input != nil && !has.Input:
		what = "cannot have Input here; use Stdin"
	case (o.Files != nil || o.Artifacts) && !slices.Contains(i.withFiles, language):
		what = "have no files here"
	case o.Network != nil:
		// There must be a policy that a run can be limited to a part of.
		if r := i.rt.Describe().Isolation.Network; r != codeinterp.ReachBlocked && r != codeinterp.ReachLimited {
			what = "reach the host's own network here, which a run cannot limit"
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%w: %s programs %s", codeinterp.ErrInvalid, language, what)
}

// closeInput closes the Input of a run.
func closeInput(opts *codeinterp.RunOptions) {
	if opts == nil {
		return
	}
	if c, ok := opts.Input.(io.Closer); ok {
		_ = c.Close()
	}
}

// checkOpen returns why no call can start, if so. i.mu is held.
func (i *Interpreter) checkOpen(ctx context.Context) error {
	switch {
	case i.closed:
		return codeinterp.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// checkCapacity returns why no program can start, if so.
func (i *Interpreter) checkCapacity() error {
	if n := i.Stuck(); i.cfg.MaxStuck > 0 && n >= i.cfg.MaxStuck {
		return fmt.Errorf("%w: %s", codeinterp.ErrCapacity, stuckReason(n))
	}
	return nil
}

func stuckReason(n int) string { return fmt.Sprintf("%d sessions could not be ended and still run", n) }

// Stuck returns how many sessions did not end in time, were abandoned and still run.
func (i *Interpreter) Stuck() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stuck
}

// addSlot adds a slot to those that Close ends and waits for.
func (i *Interpreter) addSlot(ctx context.Context, s *slot) error {
	full := i.checkCapacity()
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := cmp.Or(i.checkOpen(ctx), i.pause.check(), full); err != nil {
		return err
	}
	if !s.opts.Once {
		if most := i.cfg.MaxContexts; most > 0 && i.kept >= most {
			return fmt.Errorf("%w: %d contexts, which is the limit; delete one first", codeinterp.ErrCapacity, most)
		}
		i.kept++
	}
	i.live[s] = struct{}{}
	return nil
}

// removeSlot removes a slot that was disposed of.
func (i *Interpreter) removeSlot(s *slot) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.live, s)
	if !s.opts.Once {
		i.kept--
	}
	// A session that is starting is live too, so Close waits for it.
	if i.closed && len(i.live) == 0 {
		close(i.empty)
	}
}

// Close implements codeinterp.CodeInterpreter. Its error says what could not be ended
// and may still be running.
func (i *Interpreter) Close() error {
	i.mu.Lock()
	first := !i.closed
	i.closed = true
	slots := slices.Collect(maps.Keys(i.live))
	if first && len(slots) == 0 {
		close(i.empty)
	}
	clear(i.contexts)
	i.mu.Unlock()
	if first {
		i.closeErr = i.wrapped(context.Background(), op("close"), i.closeAll(slots))
		close(i.over)
	}
	// A second Close waits for the first and returns what that did.
	<-i.over
	return i.closeErr
}

// An op is an operation that is none of codeinterp's.
type op string

func (o op) String() string { return string(o) }

func (i *Interpreter) closeAll(slots []*slot) error {
	for _, s := range slots {
		s.terminate(codeinterp.ErrClosed)
	}
	// Bounded by the driver's patience, as every slot is.
	<-i.empty
	// Calls below get new goroutines.
	i.workers.close()
	ctx, cancel := context.WithTimeout(context.Background(), i.cfg.Patience)
	defer cancel()
	// After the sessions, which use the runtime.
	_, err := callWithin(&i.workers, ctx, i.cfg.Patience, withoutValue(i.rt.Close), nil)
	i.mu.Lock()
	defer i.mu.Unlock()
	errs := append(i.left, err)
	if i.stuck > 0 {
		errs = append(errs, fmt.Errorf("%w: %s", codeinterp.ErrUnavailable, stuckReason(i.stuck)))
	}
	return joined(errs)
}

// closeUnused closes a session that was never used. It waits for that.
func (i *Interpreter) closeUnused(session Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), i.cfg.Patience)
	defer cancel()
	done := make(chan error, 1)
	go func() { // which Close may end
		err := errNoReturn
		defer func() { done <- err }()
		err = call(ctx, session.Close)
	}()
	return <-done
}

// keepError keeps the error of a session that could not be closed, for Close to
// return.
func (i *Interpreter) keepError(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err != nil && len(i.left) < maxLeft {
		i.left = append(i.left, err)
	}
}

// addStuck counts abandoned sessions that have not returned.
func (i *Interpreter) addStuck(n int) {
	i.mu.Lock()
	i.stuck += n
	i.mu.Unlock()
}

// removeContext removes a context from those that callers know and reports whether it
// was known.
func (i *Interpreter) removeContext(s *slot) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, ok := i.contexts[s.id]
	delete(i.contexts, s.id)
	return ok
}

// An error of a call wraps one of sentinels, unless it is the cause of the caller's
// ctx.
var sentinels = []error{codeinterp.ErrLanguage, codeinterp.ErrContext, codeinterp.ErrInvalid, codeinterp.ErrClosed,
	codeinterp.ErrCapacity, codeinterp.ErrUnavailable, codeinterp.ErrIsolation, codeinterp.ErrRefused, codeinterp.ErrPaused}

// wrap makes of the error that a method is about to return what wrapped returns.
func (i *Interpreter) wrap(ctx context.Context, op fmt.Stringer, err *error) {
	*err = i.wrapped(ctx, op, *err)
}

// wrapped adds the provider to an error. An error of a runtime without a sentinel is
// ErrUnavailable.
func (i *Interpreter) wrapped(ctx context.Context, op fmt.Stringer, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*codeinterp.Error); ok {
		return e
	}
	known := ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
	if !known && !slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) }) {
		err = fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return &codeinterp.Error{Provider: i.provider, Op: op.String(), Err: err}
}

// joined is errors.Join in one line.
func joined(errs []error) error {
	var all error
	for _, err := range errs {
		switch {
		case err == nil:
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}
