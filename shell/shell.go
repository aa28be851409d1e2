package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// ErrCommand reports an id of a command that does not exist, or has ended and was
// forgotten.
var ErrCommand = errors.New("no such command")

// Options tunes a [Shell]. The zero value is ready to use.
type Options struct {
	// Keep is how many bytes of the output of each command in the background
	// are kept. Zero means 1 MiB.
	Keep int

	// MaxCommands is how many commands there can be in the background at once;
	// one more is codeinterp.ErrCapacity. Zero means 16.
	MaxCommands int

	// MaxEnded is how many commands of an owner are remembered that have ended; of
	// more, the oldest is forgotten. Zero means 32.
	MaxEnded int

	// Emulator makes the screens of terminals, such as New of package shell/screen. Its
	// reply takes what a terminal answers to its program; it does not block, and may be
	// called until a moment after Close. Without an Emulator there are no terminals.
	Emulator func(columns, rows int, reply func([]byte)) Emulator
}

// A Shell runs commands in the foreground and in the background. Its methods are safe for concurrent use. Their errors
// wrap ErrCommand, the sentinels of codeinterp, or the cause of ctx.
type Shell struct {
	*core
	ci    codeinterp.CodeInterpreter
	run   codeinterp.Commander
	terms codeinterp.TerminalRunner // nil: there are no terminals
	owner func(context.Context) any
}

// A core is what all views of a Shell share.
type core struct {
	o    Options
	life context.Context // ends with Close
	stop context.CancelCauseFunc

	mu       sync.Mutex
	closed   bool
	commands []*command // in the order of their start
	running  int        // of these
	work     sync.WaitGroup
}

// New returns a Shell over ci, which stays the caller's. It fails with
// codeinterp.ErrUnavailable where ci has no commands. o may be nil.
func New(ci codeinterp.CodeInterpreter, o *Options) (*Shell, error) {
	run, ok := codeinterp.Commands(ci)
	if !ok {
		return nil, fmt.Errorf("shell: %w: this interpreter runs no commands", codeinterp.ErrUnavailable)
	}
	c := &core{}
	if o != nil {
		c.o = *o
	}
	c.o.Keep = cmp.Or(c.o.Keep, 1<<20)
	c.o.MaxCommands = cmp.Or(c.o.MaxCommands, 16)
	c.o.MaxEnded = cmp.Or(c.o.MaxEnded, 32)
	if c.o.Keep < 0 || c.o.MaxCommands < 0 || c.o.MaxEnded < 0 {
		return nil, fmt.Errorf("shell: %w: a negative option", codeinterp.ErrInvalid)
	}
	c.life, c.stop = context.WithCancelCause(context.Background())
	terms, _ := codeinterp.Terminals(ci)
	return &Shell{core: c, ci: ci, run: run, terms: terms}, nil
}

// A View says how [Shell.With] differs.
type View struct {
	// Middlewares stand around each command, the first outermost.
	Middlewares []codeinterp.Middleware

	// Owner, if set, says to whom the calls of a ctx belong. Commands of others
	// are not there for them.
	Owner func(context.Context) any
}

// With returns a view of s, whose commands are those of s.
func (s *Shell) With(v View) *Shell {
	t := *s
	if len(v.Middlewares) > 0 {
		t.ci = codeinterp.Wrap(s.ci, v.Middlewares...)
		t.run, _ = codeinterp.Commands(t.ci)
		t.terms, _ = codeinterp.Terminals(t.ci)
	}
	if v.Owner != nil {
		t.owner = v.Owner
	}
	return &t
}

// Describe returns what the interpreter says of itself.
func (s *Shell) Describe() codeinterp.Info { return codeinterp.Describe(s.ci) }

// Run runs a command to its end; see [codeinterp.Commander]. opts may be nil.
func (s *Shell) Run(ctx context.Context, line string, opts *codeinterp.CommandOptions) (codeinterp.Result, error) {
	s.mu.Lock()
	isClosed := s.closed
	if !isClosed {
		s.work.Add(1) // Close waits for it
	}
	s.mu.Unlock()
	if isClosed {
		if opts != nil {
			if in, ok := opts.Input.(io.Closer); ok {
				in.Close() // whoever writes to it is not to wait for ever
			}
		}
		return codeinterp.NotRun(), fmt.Errorf("shell: %w", codeinterp.ErrClosed)
	}
	defer s.work.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(codeinterp.ErrClosed) })()
	return closed(s.run.RunCommand(ctx, line, opts))
}

// closed is what a command that Close ended returns.
func closed(res codeinterp.Result, err error) (codeinterp.Result, error) {
	// For the provider it was the caller's ctx that ended; the caller has ended
	// nothing.
	if res.Status == codeinterp.StatusCanceled && errors.Is(err, codeinterp.ErrClosed) {
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed
	}
	return res, err
}

// Close ends all commands, of every view, and returns when they have ended. It is
// idempotent. It must not be called from OnOutput.
func (s *Shell) Close() error {
	s.mu.Lock()
	// First: no command begins any more that Wait would miss.
	s.closed = true
	s.mu.Unlock()
	s.stop(codeinterp.ErrClosed)
	s.work.Wait()
	return nil
}
