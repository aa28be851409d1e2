package driver

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Runtime starts sessions. Its methods may be called from any goroutine. A panic in
// one is an error of the call that led to it.
// Further methods add abilities; see [Attacher], [Commander], [Completer], [Filer] and
// [TerminalStarter].
type Runtime interface {
	// Describe says what the runtime is and can do. New reads Languages, with their
	// aliases and contexts, once; the rest is read whenever a caller asks, so Describe
	// has to be cheap.
	Describe() codeinterp.Info

	// Start returns a session with an empty state. It may postpone slow work to the
	// first Run, but not the refusal of o, which is codeinterp.ErrInvalid. Once ctx is
	// done it returns soon and ends what it had started, in the background if
	// necessary.
	Start(ctx context.Context, o Options) (Session, error)

	// Close is called once, after every session was closed or abandoned. It ends
	// what is kept for later sessions, such as a pool, and retries to end what
	// Session.Close could not. The error says what is still running.
	Close(ctx context.Context) error
}

// Options says what a session is for. It was checked: Language is one of Describe, and
// Env is well-formed. It has no Functions; see Program.Functions.
type Options struct {
	codeinterp.ContextOptions
	Language string

	// Once says that the session runs one program, that of a RunCode, with empty
	// ContextOptions.
	Once bool

	// ID is the context's, empty for a RunCode.
	ID codeinterp.ContextID

	// Late takes output that belongs to no run in progress, such as that of a
	// background thread between two runs. The next run shows it first, marked as
	// late. Late copies, keeps a bounded amount, counts the rest as dropped and
	// never blocks. It may be called from any goroutine until Close is called.
	Late func(codeinterp.Output)
}

// A Session holds one state of a language, such as a process or a kernel. Its methods
// are called one at a time, except Interrupt, which is called during Run. After a
// method has returned, no goroutine of it uses the session or the output.
//
// Each method returns soon after its ctx is done. If it does not within
// Config.Patience, the session is abandoned: callers learn that the program may still
// be running, and only Close is called, once the method returns. A panic ends the
// session.
//
// An optional method Cwd() string returns where programs start. It is called after
// Start and after each Run.
type Session interface {
	// Run runs p to its end. First it prepares a state: it starts an empty one if the
	// state is gone, ends what an earlier run left behind, and waits while the
	// runtime is busy with work of others (see Program.Busy). Then it calls p.Begin
	// or p.HandOver.
	//
	// Once ctx is done, Run ends p without grace. When Run returns, no code of p
	// computes any more, even if the state is lost by that (Outcome.Lost), or
	// Outcome.Unknown says that this is not known. A timeout or the end of the
	// caller's ctx calls Interrupt first and does not end ctx.
	//
	// An error says why p never began and never will. A success without Begin or
	// HandOver is reported as lost.
	Run(ctx context.Context, p *Program, out *Output) (Outcome, error)

	// Interrupt asks the program to end and to keep the state, as Ctrl-C does, and
	// returns when that was delivered. It may be called more than once after the
	// program was handed over, but not after p.End has returned. Without p.End it may
	// be called just after Run has returned, but not during another method. It must
	// not interrupt a later program. After an error, errors.ErrUnsupported too, the
	// ctx of Run ends at once.
	Interrupt(ctx context.Context) error

	// Reset ends the state and everything that computes in it. The next Run starts
	// an empty one with the same Options; Reset does not start it. A session whose
	// state belongs to somebody else returns errors.ErrUnsupported. After another
	// error, Reset is called again before the next Run.
	Reset(ctx context.Context) error

	// Close is Reset and releases the session. A state that belongs to somebody else
	// goes on. The error says what could not be ended and is left to Runtime.Close.
	Close(ctx context.Context) error
}

// A Config is what a provider decides.
type Config struct {
	// Grace is how long an interrupted program has to end. It is interrupted again
	// after half of that. Zero means two seconds.
	Grace time.Duration

	// Patience is how long a method of a session or the runtime, or a function, has
	// to return after its ctx is done. Zero means ten seconds.
	Patience time.Duration

	// StartLimit is how long a run may take from its turn to the start of its
	// program, except time in Program.Busy, and how long a session may take to
	// start. Zero means two minutes.
	StartLimit time.Duration

	// MaxContexts is how many contexts there can be at a time; zero means any
	// number.
	MaxContexts int

	// MaxStuck is how many abandoned sessions may still run before every further
	// program is refused with codeinterp.ErrCapacity; zero means any number. A
	// runtime in the host's own process sets it, since such sessions use its
	// processors and memory.
	MaxStuck int

	// Relay says that the driver of another process is the caller. OnOutput keeps what there
	// is: Results have no Outputs, Truncated says what was lost before, and a run that is
	// being stopped waits for OnOutput. The end of a caller's ctx gives no grace.
	Relay bool

	// Idle is after how long without a run a context is deleted; zero means
	// never.
	Idle time.Duration
}
