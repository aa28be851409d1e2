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

// A Program is the input of one run. It is not to be used after Run. One that a
// test makes without the driver works and reports nothing.
type Program struct {
	Code  string
	Stdin []byte            // nil: reading fails; empty: it is at its end
	Input io.Reader         // in place of Stdin, as it comes; see [codeinterp.LanguageInfo.Input]
	Env   map[string]string // for this run only

	// Artifacts asks for Outcome.Artifacts; see [Filer].
	Artifacts bool

	// Room, where a session sets it before Begin, returns once there is room for
	// the result of a further call, or with false when ctx has ended. A call
	// waits for it when its turn has come, so that a program that reads no
	// answers has the host keep no more results than calls are served at once.
	Room func(ctx context.Context) bool

	files fs.FS
	run   *run
}

// CopyFiles copies the caller's files, if there are any, into the directory in
// which the program is about to begin; see [Filer]. It stops soon after ctx is
// done. Its error is one that Run returns.
func (p *Program) CopyFiles(ctx context.Context, dir codeinterp.FS) error {
	if p.files == nil {
		return nil
	}
	return copyFiles(ctx, dir, p.files)
}

// HasFiles reports whether CopyFiles has anything to copy.
func (p *Program) HasFiles() bool { return p.files != nil }

// Begin starts the program's time and puts late output at the head of its own.
// A session calls it when the runtime is ready and has the program, before the
// first output; again where the program has to begin anew. Interrupts may come
// from then on. It takes as long as OnOutput does, where there was late output.
func (p *Program) Begin() { _ = p.HandOver(nil) }

// HandOver is Begin, followed by f, which hands the program to the runtime;
// interrupts wait until f has returned, so none is lost because it came too
// early. Where f fails, nothing begins, and Run returns that error.
func (p *Program) HandOver(f func() error) error {
	if p.run == nil {
		if f == nil {
			return nil
		}
		return f()
	}
	return p.run.handOver(f)
}

// AfterCancel calls f once d has passed since the caller's ctx has ended, from when
// on no caller waits for the program. A session gives up then what it only waits for.
func (p *Program) AfterCancel(d time.Duration, f func()) (stop func() bool) {
	if p.run == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(p.run.ctx, func() { time.AfterFunc(d, f) })
}

// Functions returns what the program can call of the host, by name: Name,
// Description and the schemas, from which a session makes stubs. The Calls are
// nil. Nothing else than these can be called.
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

// Call calls a function of the host for the program and returns its result,
// JSON that is not to be changed. The driver checks the name, and that args,
// which are the driver's from then on, are a JSON object of a permitted size;
// none stand for an empty one. It counts the calls, has them served as many at a
// time as FunctionLimits says, and records them. So a session may pass on
// whatever the program's side sends.
//
// The error is a *codeinterp.FunctionError, for the program to catch as one that
// has the function's name and the message; or ErrEnded. Where ctx ends, the call
// is given up. Call returns soon after the run is to be stopped, or ctx has
// ended, also where the function ignores that. It may be called from any
// goroutine while Run has not returned, and from then on returns ErrEnded.
func (p *Program) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if p.run == nil {
		return nil, ErrEnded
	}
	return p.run.calls.call(ctx, name, args)
}

// Start is Call for a session that does not wait: answer is called with what Call
// would return, once, on a goroutine of the driver's, also before Start returns.
// It may wait, though not for another call.
func (p *Program) Start(ctx context.Context, name string, args json.RawMessage, answer func(json.RawMessage, error)) {
	if p.run == nil {
		go answer(nil, ErrEnded)
		return
	}
	p.run.calls.start(ctx, name, args, answer)
}

// Serve is Start that has the function called on the caller's goroutine: it returns
// once the function has, which may be long after the answer, and ends the
// goroutine where the function does. To start a goroutine and to switch to it
// takes longer than many functions.
func (p *Program) Serve(ctx context.Context, name string, args json.RawMessage, answer func(json.RawMessage, error)) {
	if p.run == nil {
		go answer(nil, ErrEnded)
		return
	}
	p.run.calls.serve(ctx, name, args, answer)
}

// End says that the program has ended: when it has returned, no Interrupt is in
// progress and none comes any more. A session calls it as soon as it knows, where
// something goes on after that: output that OnOutput has yet to take, or what an
// interrupt must not hit, such as cleaning up. A program that ended before it was
// stopped is no timeout, and not canceled, however long the rest takes. Calls of
// functions that are still open end.
func (p *Program) End() {
	if p.run != nil {
		p.run.endProgram()
	}
}

// Taken is End, and says that all of the program's output is there too: only the
// session's own work is left, such as looking for artifacts. However that ends,
// the program was not stopped. The channel is closed once the run is being
// stop, or was; the session has to be done soon after, whether its ctx ends or
// not.
func (p *Program) Taken() (stop <-chan struct{}) {
	if p.run == nil {
		return nil
	}
	p.run.endProgram()
	return p.run.outputTaken()
}

// AfterStop is context.AfterFunc for ctx, which is that of Run, and for one f at a
// time. It costs a fraction of that, which counts where a program takes
// microseconds. f is not called for a ctx that ends with Run.
func (p *Program) AfterStop(ctx context.Context, f func()) (stop func() bool) {
	if p.run == nil || !p.run.setOnKill(f) {
		return context.AfterFunc(ctx, f)
	}
	return p.run.clearOnKill
}

// Busy says whether the runtime is busy with what is not ours. Until Busy(false)
// or Begin, the time does not count for Config.StartLimit.
func (p *Program) Busy(busy bool) {
	if p.run != nil {
		p.run.setBusy(busy)
	}
}

// An Outcome is how a program ended, as the runtime saw it. Why it was stopped,
// if it was, is not the runtime's to say.
type Outcome struct {
	// ExitCode is the program's own: 0 for one that ended normally, 1 for an
	// uncaught exception. Of one that was stopped it does not matter.
	ExitCode int

	// Error is what the program raised, with a Name, a Message or both. Traceback is
	// what the language prints for an unhandled error, line by line, and
	// holds the Name and the Message. Where the language has no names of errors, the
	// session makes one up, such as Error, for Name, and writes it into a line of the
	// Traceback, such as "Error: message". What is reported here is not on standard error
	// as well. Of a program that was stopped: where it was, in the user's own frames,
	// or nil where the runtime does not say; never the words of the machinery that
	// stopped it.
	Error *codeinterp.ProgramError

	// Cause says why it ended, where a limit, a signal or the end of the
	// runtime's process did that.
	Cause codeinterp.Cause

	// End is when it ended, before OnOutput took the rest. Zero means when
	// Program.End was called, or now.
	End time.Time

	// Artifacts is what the program did to files, where Program.Artifacts asks
	// for it, and Missing what that list lacks.
	Artifacts []codeinterp.Artifact
	Missing   []codeinterp.Truncation

	// Count is the runtime's own number of the run. Zero: the driver counts.
	Count int

	// Fresh says that it began in a state in which no program had begun before.
	// Where a loss was not known, the driver reports StateLost; so a session
	// need not remember what was reported.
	Fresh bool

	// Lost says that the state is gone or was given up with this run. Where
	// nothing stopped the program, the run is lost then.
	Lost bool

	// Exited says that it ended by the runtime's own way to exit, such as
	// process.exit, even if that cost the state: the exit code decides the
	// status then, not Lost. A process that ends in another way, as by
	// _exit, is Lost with CauseExit in a context, and Exited in a RunCode.
	Exited bool

	// Unknown says that the program's end is not known, and why: it may have
	// ended well or may still be running. It wraps codeinterp.ErrUnavailable.
	// The next Run ends what is left of it before it begins, and says so by
	// Options.Late.
	Unknown error
}
