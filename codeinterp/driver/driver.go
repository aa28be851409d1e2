package driver

import (
	"context"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Runtime starts sessions. Its methods may be called from any goroutine, and
// a panic in one is an error of the call that led to it.
//
// What a runtime can do beyond this it says by further methods; see [Attacher],
// [Commander], [Completer] and [Filer].
type Runtime interface {
	// Describe says what the runtime is and can do. Its Languages, with their
	// aliases and whether they have contexts, are read once, by New; the rest
	// is asked whenever a caller wants to know, so it is cheap.
	Describe() codeinterp.Info

	// Start returns a session whose state is empty. What takes long it may put
	// off to the first Run, but not the refusal of o, which is
	// codeinterp.ErrInvalid. Once ctx is done it returns soon, and ends what it
	// had begun to start, if need be in the background.
	Start(ctx context.Context, o Options) (Session, error)

	// Close is called once, after every session was closed or given up. It ends
	// what is kept for sessions to come, such as a pool, and tries again to end
	// what Session.Close could not; what is still there is its error.
	Close(ctx context.Context) error
}

// Options says what a session is for. Input was checked: Language is a name of
// Describe's, Env has no malformed entry. Functions are not in it: a program has
// them, see Program.Functions.
type Options struct {
	codeinterp.ContextOptions
	Language string

	// Once says that the session runs one program: that of a RunCode. Its
	// ContextOptions are empty.
	Once bool

	// Late takes output that belongs to no run in progress, such as what a
	// background thread prints between two runs. It is shown at the head of the
	// next run that begins, marked as late. Late copies, keeps a bounded amount
	// and counts the rest as dropped; it never blocks. It may be called from any
	// goroutine, until Close was called.
	Late func(codeinterp.Output)
}

// A Session is a place in which one state of a language lives at a time, such
// as a process or a kernel. Its methods are called one at a time, but for
// Interrupt, which comes beside Run. A method may return on any goroutine's
// behalf, but leaves none that still touches the session or the output.
//
// Each method returns soon after its ctx is done. One that does not within
// Config.Patience is given up together with its session, of which nothing is
// asked any more but to Close once it is back; its callers learn that the
// program may still be running. A panic counts as the end of the session.
//
// A session that also has a method Cwd() string says where its programs start.
// It is asked after Start and after each Run.
type Session interface {
	// Run runs p to its end. First it makes sure of a state: where that is gone
	// it starts an empty one, where what an earlier run left has to be ended it
	// ends that, and where the runtime is busy with what is not ours it waits
	// (see Program.Busy). Then it calls p.Begin or p.HandOver.
	//
	// ctx is the order to stop: once it is done, Run ends p without grace. When
	// Run returns, no code of p computes any more, whatever that cost the state
	// (Outcome.Lost), or Outcome.Unknown says that this is not known. ctx ends
	// neither with the caller's ctx nor with a timeout; these are Interrupt
	// first.
	//
	// An error says why p never began, and means that it never will. A good end
	// without a Begin or HandOver is reported as lost: the program was not seen.
	Run(ctx context.Context, p *Program, out *Output) (Outcome, error)

	// Interrupt asks the program to end and to leave the state alone, as Ctrl-C
	// would, and returns when that was delivered. It is called after the
	// program was handed over, maybe more than once, and not after p.End has
	// returned; without p.End it can come when Run has just returned, though not
	// beside another method. It must not hit what runs next. After an error, also
	// errors.ErrUnsupported, ctx of Run ends at once.
	Interrupt(ctx context.Context) error

	// Reset ends the state and all that computes in it. The next Run begins in
	// an empty one in the same place, with the same Options. Reset only ends:
	// the start of what comes next belongs to the next Run. A session whose state
	// is not ours to end refuses with an errors.ErrUnsupported; after another
	// error the next Run is preceded by a Reset.
	Reset(ctx context.Context) error

	// Close is Reset, and gives up the place. What is not ours, such as a
	// kernel of somebody else's, is left alone. What could not be ended is its
	// error, and left to Runtime.Close.
	Close(ctx context.Context) error
}

// A Config is what a provider decides.
type Config struct {
	// Grace is how long an interrupted program has to end by itself. It is
	// interrupted again after half of that. Zero means two seconds.
	Grace time.Duration

	// Patience is how long a method of a session or of the runtime, or a
	// function that a program called, has to return once its ctx is done. Zero
	// means ten seconds.
	Patience time.Duration

	// StartLimit is how long it may take from a run's turn to its program's
	// begin, and to start a session; while Program.Busy says that the runtime
	// is busy with others, it does not count. Zero means two minutes.
	StartLimit time.Duration

	// MaxContexts is how many contexts there can be at a time; zero means any
	// number.
	MaxContexts int

	// MaxStuck is how many sessions that were given up may not be back before
	// every further program is refused with codeinterp.ErrCapacity; zero means
	// any number. A runtime in the host's own process sets it, whose sessions
	// take processors and memory of the host until they come back.
	MaxStuck int

	// Idle is after how long without a run a context is deleted; zero means
	// never.
	Idle time.Duration
}
