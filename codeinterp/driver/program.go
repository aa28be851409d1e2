package driver

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Program is the input of one run. It must not be used after Run returns. A zero
// Program works in tests without the driver and reports nothing.
type Program struct {
	Code  string
	Stdin []byte            // nil or empty: an empty input; see RunOptions.Stdin
	Input io.Reader         // in place of Stdin, as it comes; see [codeinterp.LanguageInfo.Input]
	Env   map[string]string // for this run only

	// Artifacts asks for Outcome.Artifacts; see [Filer].
	Artifacts bool

	// Network limits what the run may reach, and OnNetwork receives its events; see
	// [codeinterp.RunOptions].
	Network   *codeinterp.NetworkLimit
	OnNetwork func(codeinterp.NetworkEvent)

	// Timeout is the caller's, 0 for none. The driver stops the program; a session whose
	// state outlives this process does so where the process has ended.
	Timeout time.Duration

	// Resume says that there is no Code: Run follows the run that was in progress when the
	// process before ended; see [Attacher].
	Resume bool

	// OnBegin, if a session or [OnBegin] sets it, is called when the program has begun.
	OnBegin func()

	files fs.FS
	run   *run
}

type beginKey struct{}

// OnBegin returns a ctx for runs: f is called when the program has begun.
func OnBegin(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, beginKey{}, f)
}

// CopyFiles copies the caller's files, if any, into the directory in which the program
// is about to begin; see [Filer]. It stops soon after ctx is done. Run returns its
// error.
func (p *Program) CopyFiles(ctx context.Context, dir codeinterp.FS) error {
	if p.files == nil {
		return nil
	}
	return copyFiles(ctx, dir, p.files)
}

// HasFiles reports whether CopyFiles has anything to copy.
func (p *Program) HasFiles() bool { return p.files != nil }

// Begin starts the program's time and shows late output before its own. A session
// calls it when the runtime is ready and has the program, before the first output, and
// again if the program has to start again. Interrupts may come from then on. If there
// is late output, Begin waits for OnOutput.
func (p *Program) Begin() { _ = p.HandOver(nil) }

// HandOver is Begin, followed by f, which hands the program to the runtime. Interrupts
// wait until f has returned, so that none comes too early. If f fails, the program has
// not begun, and Run returns the error.
func (p *Program) HandOver(f func() error) error {
	if p.run != nil {
		return p.run.handOver(f)
	}
	if f != nil {
		return f()
	}
	return nil
}

// AfterCancel calls f once d has passed since the caller's ctx has ended. No caller
// waits for the program any more then, and a session abandons what it only waits for.
func (p *Program) AfterCancel(d time.Duration, f func()) (stop func() bool) {
	if p.run == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(p.run.ctx, func() { time.AfterFunc(d, f) })
}

// Functions returns the functions of the host that the program can call, by name:
// Name, Description and the schemas, of which a session makes stubs. Call is nil.
func (p *Program) Functions() []codeinterp.Function {
	if p.run == nil {
		return nil
	}
	list := slices.Clone(p.run.calls.functions)
	for i := range list {
		list[i].Call = nil
	}
	return list
}

// Call calls a function of the host for the program and returns its result, JSON that
// must not be changed. The driver takes ownership of args and checks that they are a
// JSON object of a permitted size; empty args mean an empty object. It checks the
// name, bounds and records the calls: a session may pass on whatever the program
// sends.
// The error is a *codeinterp.FunctionError, for the program to catch, or ErrEnded.
// Call returns soon after ctx has ended or the run is to be stopped, even if the
// function does not return. It may be called from any goroutine; after Run has
// returned it returns ErrEnded.
func (p *Program) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if p.run == nil {
		return nil, ErrEnded
	}
	return p.run.calls.call(ctx, name, args)
}

// Start is Call for a session that does not wait. answer is called once with what Call
// would return, on a goroutine of the driver, possibly before Start returns. It may
// block, but not for another call.
func (p *Program) Start(ctx context.Context, name string, args json.RawMessage, answer func(json.RawMessage, error)) {
	if p.run == nil {
		go answer(nil, ErrEnded)
		return
	}
	p.run.calls.start(ctx, name, args, answer)
}

// End says that the program has ended. When it returns, no Interrupt is in progress
// and none will come. A session calls it as soon as it knows, if something follows
// that takes time or must not be interrupted, such as output or cleaning up. A program
// that ended before it was stopped has not timed out and was not canceled, however
// long the rest takes. Open calls of functions end, and later ones are only recorded.
func (p *Program) End() {
	if p.run != nil {
		p.run.endProgram()
	}
}

// Taken is End, and says that all of the program's output was written: only work of
// the session is left, such as finding artifacts. The program counts as not stopped.
// The channel is closed once the run is being stopped; the session has to return soon
// after.
func (p *Program) Taken() (stop <-chan struct{}) {
	if p.run == nil {
		return nil
	}
	p.run.endProgram()
	return p.run.outputTaken()
}

// AfterStop is context.AfterFunc for the ctx of Run and one f at a time, at a fraction
// of the cost. f is not called if ctx ends because Run has returned.
func (p *Program) AfterStop(ctx context.Context, f func()) (stop func() bool) {
	if p.run == nil || !p.run.setOnKill(f) {
		return context.AfterFunc(ctx, f)
	}
	return p.run.clearOnKill
}

// Busy says whether the runtime is busy with work of others. Until Busy(false) or
// Begin, the time does not count for Config.StartLimit.
func (p *Program) Busy(busy bool) {
	if p.run != nil {
		p.run.setBusy(busy)
	}
}

// An Outcome is how a program ended, as seen by the runtime. The driver knows why it
// was stopped.
type Outcome struct {
	// ExitCode is that of the program: 0 for a normal end, 1 for an uncaught
	// exception. It is ignored if the program was stopped.
	ExitCode int

	// Error is what the program raised, with a Name, a Message or both. Traceback is
	// what the language prints for an unhandled error, line by line, with the Name and
	// the Message. If errors of the language have no names, the session chooses one,
	// such as Error, and writes it into the Traceback, such as "Error: message".
	// Standard error does not repeat it. For a program that was stopped it is where
	// the program was, in the user's own frames, or nil if unknown.
	Error *codeinterp.ProgramError

	// Cause says why it ended, if by a limit, a signal or the end of the runtime's
	// process.
	Cause codeinterp.Cause

	// End is when it ended, before OnOutput took the rest. Zero means when
	// Program.End was called, or now.
	End time.Time

	// Artifacts are the files that the program created or changed, if
	// Program.Artifacts asks for them. Missing says what the list lacks.
	Artifacts []codeinterp.Artifact

	// Refusals are the Result's.
	Refusals []string

	Missing []codeinterp.Truncation

	// Count is the runtime's own number of the run. If it is zero, the driver counts.
	Count int

	// Fresh says that it began in a state in which no program had begun before. The
	// driver then reports StateLost unless the loss was reported.
	Fresh bool

	// Lost says that the state was lost with this run. If nothing stopped the program,
	// the run is lost too.
	Lost bool

	// Exited says that it ended by the runtime's own way to exit, such as
	// process.exit, even if the state was lost: the exit code decides the status then.
	// A process that ends in another way, such as _exit, is Lost with CauseExit in a
	// context, and Exited in a RunCode.
	Exited bool

	// Former says what the driver cannot know of a run that another process had begun: its
	// Duration and, if it is not empty, its Status, with ExitCode and Cause. They count unless
	// this driver stopped the program.
	Former *codeinterp.Result

	// Unknown says why the end of the program is not known: it may have ended well or
	// may still be running. It wraps codeinterp.ErrUnavailable. The next Run ends what
	// is left of the program before it begins, and reports that by Options.Late.
	Unknown error
}
