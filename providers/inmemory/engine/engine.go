// Package engine is what providers/inmemory and an embedded engine know of
// each other. Application code names engines in inmemory.Options; only the
// author of an engine implements these interfaces.
//
// An engine is a factory of instances. An instance is one fresh state of the
// language: the provider makes one for each context and one for each
// stateless run, runs programs in it one at a time, and closes it.
package engine

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// An Engine makes instances of one language. Its methods may be called from
// any goroutine.
type Engine interface {
	// Info names the language, its runtime, and what is missing in it. The
	// name is canonical and never changes.
	Info() codeinterp.LanguageInfo

	// Limits are the engine's own defaults. The provider overrides them with
	// what its options say and hands the result to New.
	Limits() Limits

	// New returns a fresh instance. Errors wrap a sentinel of codeinterp,
	// ErrCapacity where there is no memory left.
	New(c Config) (Instance, error)
}

// A MemoryOwner is an Engine that says whether its programs have a memory of their own, and
// cannot address the host's.
type MemoryOwner interface {
	Engine
	OwnMemory() bool
}

// An Instance is one state of the language. The provider calls one method at
// a time, but from different goroutines.
type Instance interface {
	// Run runs a program to its end, which includes what the program left
	// pending: timers, promises, background tasks. It must return soon after
	// ctx is done, with Outcome.Stopped set. An instance that does not is
	// abandoned: the provider reports the run as lost, never calls the
	// instance again and counts it until Run returns.
	Run(ctx context.Context, p Program, h Host) Outcome

	// Close releases everything. It is called once, after Run has returned.
	Close()
}

// A Completer is an Instance that can be asked what could stand at the end of
// code: matches in the place of code[start:]. It runs nothing, and is never asked
// during Run. LanguageInfo.Completion says that an engine's instances are
// Completers. An error means that the state is gone, as after Outcome.Lost. It
// returns soon after ctx is done.
type Completer interface {
	Instance
	Complete(ctx context.Context, code string) (start int, matches []string, err error)
}

// A Forker is an Instance that can be copied between runs. LanguageInfo.Forks says that an
// engine's instances are Forkers.
type Forker interface {
	Instance
	// Fork returns an instance with a copy of the state. reopen returns, for a file that
	// this one has open, one of c.Files that is open in the same way.
	Fork(c Config, reopen func(codeinterp.File) codeinterp.File) (Instance, error)
}

// A Saver is an Instance whose state can be written between runs, for a Loader.
type Saver interface {
	Instance
	Save() ([]byte, error)
}

// A Loader is an Engine that makes instances of saved states, those of an engine with the
// same identity.
type Loader interface {
	Engine
	Identity() (string, error)
	Load(c Config, state []byte) (Instance, error)
}

// Limits bound one instance. Zero values mean the engine's own defaults.
type Limits struct {
	Memory int64 // bytes that the instance may take from the host in all
	Stack  int   // nested calls, in the engine's own unit
}

// Config is what an instance gets of the world. There is nothing else: an
// instance must not reach files, environment, network or processes of the
// host.
type Config struct {
	Limits Limits
	// Budget is asked before memory is taken, and gets it back afterwards. The
	// arguments of open calls are such memory, beside Limits.Memory as much again, and
	// so is what an engine written in Go makes of a program's values meanwhile.
	Budget *Budget
	// Files is the instance's file system, Cwd the directory in it that
	// programs start in.
	Files *memfs.FS
	Cwd   string
}

// A Budget bounds the memory of all instances together. Its methods may be
// called from any goroutine.
type Budget struct {
	max  int64
	used atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{max: bytes} }

// Take reports whether n more bytes may be used.
func (b *Budget) Take(n int64) bool {
	// Added first: of two that ask at once for the last bytes one has to fail.
	if b.used.Add(n) > b.max {
		b.used.Add(-n)
		return false
	}
	return true
}

// Add counts n more bytes that are taken already, fewer where n is negative. It may exceed
// the budget, so that others get nothing more.
func (b *Budget) Add(n int64) { b.used.Add(n) }

// Give returns n bytes.
func (b *Budget) Give(n int64) { b.used.Add(-n) }

// Used returns how many bytes are taken.
func (b *Budget) Used() int64 { return b.used.Load() }

// A Program is one run's input.
type Program struct {
	// Name stands for the program in tracebacks, such as "cell-3.js". It is
	// unique within an instance.
	Name string
	Code string
	// Stdin is nil where reading fails, empty where it is at its end.
	Stdin []byte
	// Env is the run's whole environment.
	Env map[string]string
	// Last tells that the instance runs nothing after it: it ends as a process does.
	Last bool
	// Script tells that it is a file, as a language's own interpreter would run it.
	Script bool
	// Args are the program's name and its arguments, none where it has no arguments.
	Args []string
	// Position, if set, maps a line and column of Code, both from 1, to those
	// of the source that Code was made from. The instance may keep it to map
	// the tracebacks of later runs, which then takes PositionSize bytes.
	Position     func(line, column int) (int, int)
	PositionSize int64
	// Translate, if set, makes what the instance runs of a file that the program
	// imports, whose name ends in one of Extensions: of the Program that it returns
	// only Code and the positions matter. It ends with the run, and ok is false where
	// it did, or the file is invalid; out says which.
	Extensions []string
	Translate  func(name, source string) (p Program, out Outcome, ok bool)
	// Functions are the names of what the program can call of the host, by Call,
	// which is nil where there are none. Call does not wait: answer is called
	// once, on any goroutine, also before Call returns or soon after the run's
	// end. Its error is a *codeinterp.FunctionError, for the program to catch, or
	// another where the run is about to end and the program needs no answer.
	Functions []string
	Call      func(name string, args json.RawMessage, answer func(json.RawMessage, error))
	// Fetch, if set, makes the HTTP request that a FetchRequest describes, and answers
	// with a FetchAnswer, as Call does.
	Fetch func(request json.RawMessage, answer func(json.RawMessage, error))
}

// A Network makes the requests of an interpreter's programs. It is safe for concurrent
// use.
type Network interface {
	// Hosts lists at most max of the hosts that programs may reach.
	Hosts(max int) []string
	// Session returns what one context uses.
	Session() NetworkSession
	Close() error
}

// A NetworkSession makes the requests of one context, one run after the other.
type NetworkSession interface {
	// BeginRun begins a run of the context id, for which limit narrows the policy, and whose
	// events onEvent receives, if it is not nil.
	BeginRun(id string, limit *codeinterp.NetworkLimit, onEvent func(codeinterp.NetworkEvent))
	// Fetch returns the run's Program.Fetch; ctx ends its requests.
	Fetch(ctx context.Context) func(request json.RawMessage, answer func(json.RawMessage, error))
	// EndRun ends the run and returns its refusals, each a sentence.
	EndRun() []string
	Close()
}

// A FetchRequest is what Program.Fetch takes. Bodies are bytes as the characters U+0000 to
// U+00FF.
type FetchRequest struct {
	ID       int64       `json:"id"`
	Cancel   int64       `json:"cancel"` // if set, the request with this ID ends, and nothing is begun
	URL      string      `json:"url"`
	Method   string      `json:"method"`
	Redirect string      `json:"redirect"` // "follow", "manual" or "error"
	Headers  [][2]string `json:"headers"`
	Body     *string     `json:"body"`
}

// A FetchAnswer is what Program.Fetch answers with.
type FetchAnswer struct {
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	Headers    [][2]string `json:"headers"`
	Body       string      `json:"body"`
}

// A Host takes what a running program produces. Its methods are called on the
// goroutine that called Run, and only until Run returns.
type Host interface {
	// Write takes a chunk of codeinterp.Stdout or Stderr and copies it. It
	// may block.
	Write(kind codeinterp.Kind, p []byte)
	// Show takes a display or a clear and owns it. It may block.
	Show(o codeinterp.Output)
	// Idle calls wait, during which the program does not run, so that others
	// can.
	Idle(wait func())
	// Breathe lets others run where it is their turn. A program that
	// computes must call it every few milliseconds.
	Breathe()
}

// An Outcome is how a run ended.
type Outcome struct {
	// ExitCode is the program's own exit code: 0, 1 after an uncaught error,
	// or what it asked for.
	ExitCode int
	// Error is what the program did not handle.
	Error *codeinterp.ProgramError
	// ErrorLost is how many bytes were left out of Error.
	ErrorLost int64
	// Value is the last expression's value, nil where there is none.
	Value *codeinterp.Output
	// Cause is set where a limit ended the run.
	Cause codeinterp.Cause
	// Stopped tells that the run ended because ctx was done.
	Stopped bool
	// Lost tells that the state is gone and the instance only good for
	// Close.
	Lost bool
}
