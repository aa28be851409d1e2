package quickjs

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

const (
	// maxMapped and maxMappedSize are of how many earlier programs the positions
	// are kept, and how many bytes these may take.
	maxMapped     = 256
	maxMappedSize = 256 << 10

	// exitUnsettled is node's exit code for a top-level await that nothing
	// can settle any more.
	exitUnsettled = 13
	// exitHandler is that for a handler of uncaughtException that throws.
	exitHandler = 7
)

// An instance is one JavaScript realm and what programs see around it.
type instance struct {
	vm     *vm
	config engine.Config
	table  *table
	start  time.Time // of the instance, for performance.now

	// The run in progress.
	program  engine.Program
	host     engine.Host
	stop     context.Context
	outside  atomic.Bool // the goroutine is in the host, not in the engine
	runs     int
	exited   bool // the program called process.exit
	leaving  bool // its handlers of that are being called
	exitCode int
	stdin    int // bytes of stdin that were read
	loop     loop
	replies  *replyQueue // for the answers to calls, nil before the first
	answered bool        // an answer went before a timer
	site     site        // of the last call
	watcher  *watcher

	source string // that the program was compiled from
	last   last

	// What outlives a run.
	lastAtom  lib.TJSAtom // "_"
	console   console
	positions positions
	driver    value            // functions of the driver's realm, see driver.go
	loaded    map[string]value // exports of the libraries
	toolset   value            // the object of functions, undefined until a program uses it
	shown     value            // what remember has put into _
	originals []value          // what builtinMethods replaced, in their order
	parsing   bool             // a module only for its errors: what it imports is not looked for
	cwd       string
}

func newInstance(c engine.Config, p *pool) (*instance, error) {
	vm, err := newVM(c, p)
	if err != nil {
		return nil, err
	}
	in := &instance{vm: vm, config: c, table: hostTable(), start: time.Now(), driver: undefined, toolset: undefined, shown: undefined, cwd: c.Cwd}
	vm.in = in
	vm.breathe = func() {
		in.outside.Store(true)
		in.host.Breathe()
		in.outside.Store(false)
	}
	if err := in.install(); err != nil {
		vm.close()
		return nil, err
	}
	return in, nil
}

// Close implements engine.Instance.
func (in *instance) Close() {
	in.unwatch()
	in.vm.close()
}

// Run implements engine.Instance.
func (in *instance) Run(ctx context.Context, p engine.Program, h engine.Host) (out engine.Outcome) {
	in.begin(ctx, p, h)
	w := in.watch(ctx)
	defer func() {
		panicked := recover()
		// Before revokedNow is asked: the watcher may be about to revoke.
		stopped := w.finish()
		if panicked != nil || in.vm.heap.revokedNow() {
			out = in.lost(panicked, stopped)
		}
	}()
	// Revoked memory faults on this goroutine, which else ends the whole process.
	fault := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(fault)
	out = in.atFault(in.execute())
	in.forgetUnfinished(out.Error == nil && !out.Stopped && !in.exited)
	in.end()
	return out
}

func (in *instance) begin(ctx context.Context, p engine.Program, h engine.Host) {
	if in.runs++; in.runs == 2 {
		in.vm.holdArenas()
	}
	in.program, in.host, in.stop = p, h, ctx
	in.exited, in.leaving, in.exitCode, in.stdin = false, false, 0, 0
	in.vm.overflow = false
	in.vm.heap.begin()
	in.vm.stopping.Store(false)
	if p.Position != nil {
		in.positions.add(p.Name, p.Position, p.PositionSize)
	}
}

// end drops what the program left pending and what it read in.
func (in *instance) end() {
	in.vm.stopping.Store(false)
	in.loop.reset(in.vm)
	if in.replies != nil {
		in.replies.close(in.vm)
		in.replies = nil
	}
	in.site.free(in.vm)
	in.positions.trim()
	in.vm.giveBack(0)
	in.program, in.host, in.stop, in.source = engine.Program{}, nil, nil, ""
}

// execute compiles and runs the program, waits for what it left pending and
// takes the value of its last expression, or what that promises.
func (in *instance) execute() engine.Outcome {
	if isObject(in.toolset) { // what an earlier program may have kept
		v := in.offer()
		if isException(v) {
			return in.failed(lib.XJS_GetException(in.vm.tls, in.vm.ctx))
		}
		in.vm.free(v)
	}
	cell := in.prepare()
	defer cell.settle(in.vm)
	if isException(cell.fn) {
		return in.failed(lib.XJS_GetException(in.vm.tls, in.vm.ctx))
	}
	v := lib.XJS_EvalFunction(in.vm.tls, in.vm.ctx, cell.fn)
	if isException(v) {
		if out, ended := in.uncaught(); ended {
			return out
		}
		// A handler of uncaughtException took it: what the program left pending goes on.
		v, cell.async = undefined, false
	}
	main := undefined
	if cell.async {
		main = v
	}
	// For a run that is stopped while something is pending: it has this value too.
	in.last = last{value: v, boxed: cell.async}
	defer func() { in.last = last{value: undefined} }()
	if in.rejected(main) && !in.vm.stopping.Load() { // it threw before it awaited anything: nothing of it goes on
		if out, ended := in.thrown(main); ended {
			in.vm.free(v)
			return out
		}
	}
	if out, ok := in.wait(main); !ok {
		in.vm.free(v)
		return in.withValue(out)
	}
	if cell.async {
		box := in.vm.fulfilled(v)
		if v = undefined; isObject(box) { // else a handler took what it was rejected with
			v = in.vm.get(box, "value")
		}
		in.vm.free(box)
	}
	v, out, ok := in.promised(v)
	if !ok {
		return in.withValue(out)
	}
	in.remember(v)
	in.vm.free(v)
	if out, ok := in.leave(); !ok {
		return in.withValue(out)
	}
	out = in.withValue(engine.Outcome{ExitCode: in.exitCode})
	if o, ended := in.ended(); ended {
		return o
	}
	return out
}

// promised returns v, or what it promises where it is a promise. ok is false where
// that ended the program otherwise.
func (in *instance) promised(v value) (_ value, out engine.Outcome, ok bool) {
	if classOf(v) != lib.EJS_CLASS_PROMISE {
		return v, out, true
	}
	defer in.vm.free(v)
	in.last.value, in.last.boxed, in.last.promised, in.last.caught = v, false, true, false
	if out, ok := in.wait(v); !ok {
		return undefined, out, false
	}
	return in.vm.fulfilled(in.vm.dup(v)), out, true
}

// leave calls what the program wants to have called at its end: beforeExit as often
// as that starts something, and exit where the instance ends too. ok is false where
// that ended it otherwise.
func (in *instance) leave() (out engine.Outcome, ok bool) {
	for {
		heard := in.tell("beforeExit", newInt(int32(in.exitCode)))
		if isException(heard) {
			if out, ended := in.uncaught(); ended {
				return out, false
			}
		} else if tag(heard) != lib.EJS_TAG_BOOL || intOf(heard) == 0 {
			break
		}
		if out, ended := in.jobs(); ended {
			return out, false
		}
		more := in.calling() || in.loop.strong > 0
		if out, ok := in.wait(undefined); !ok {
			return out, false
		}
		if !more {
			break
		}
	}
	if !in.program.Last {
		return out, true
	}
	_, out, ended := in.handler("atExit", newInt(int32(in.exitCode)))
	return out, !ended
}

// atFault calls the handlers of exit where an error has ended the program and the
// instance ends too, and returns the outcome with the exit code that they make of it.
func (in *instance) atFault(out engine.Outcome) engine.Outcome {
	if !in.program.Last || out.Error == nil || out.Stopped || out.Lost || out.Cause != "" || out.ExitCode == exitHandler {
		return out
	}
	in.exitCode = out.ExitCode
	v := in.tell("atFault", newInt(int32(out.ExitCode)))
	if isException(v) {
		in.vm.dropException()
	}
	in.vm.free(v)
	// The error stays the outcome where a handler calls process.exit.
	if o, ended := in.ended(); ended && !in.exited {
		o.Value = out.Value
		return o
	}
	if in.exitCode != 0 { // or the error would be that of a success
		out.ExitCode = in.exitCode
	}
	return out
}

// ended reports whether the program was ended from outside, or ended itself
// by process.exit, and the outcome.
func (in *instance) ended() (engine.Outcome, bool) {
	switch {
	case in.exited:
		return engine.Outcome{ExitCode: in.exitCode}, true
	case in.vm.overflow:
		return engine.Outcome{ExitCode: 1, Cause: codeinterp.CauseMemory, Error: &codeinterp.ProgramError{
			Name: "InternalError", Message: "stack overflow: the functions in progress use too much memory"}}, true
	case in.vm.stopping.Load():
		return engine.Outcome{ExitCode: 1, Stopped: true, Error: &codeinterp.ProgramError{
			Name: "InternalError", Message: "interrupted"}}, true
	}
	return engine.Outcome{}, false
}

// failed is the outcome of an uncaught exception, which it frees.
func (in *instance) failed(e value) engine.Outcome {
	// What ended the program counts, and not the exception by which it did.
	if out, ended := in.ended(); ended {
		in.vm.free(e)
		return out
	}
	heap := in.vm.heap
	full := heap.failed
	// To describe the error takes memory too, of which there may be none left.
	heap.extra = reserve
	out := engine.Outcome{ExitCode: 1}
	if tag(e) == lib.EJS_TAG_UNINITIALIZED || full && tag(e) == lib.EJS_TAG_NULL {
		// There was no memory left for the error itself.
		out.Error = &codeinterp.ProgramError{Name: "InternalError", Message: "out of memory", Traceback: []string{"InternalError: out of memory"}}
		full = true
	} else {
		out.Error, out.ErrorLost = in.programError(e)
	}
	in.vm.free(e)
	if full && out.Error.Name == "InternalError" && out.Error.Message == "out of memory" {
		out.Cause = codeinterp.CauseMemory
		// Built-ins may have been left half made when the memory ran out.
		out.Lost = !in.recovers()
		out.Error.Message += heap.why()
	}
	heap.extra = 0
	// To inspect a thrown value can run code of the program, which can exit.
	if o, ended := in.ended(); ended {
		return o
	}
	return out
}

// recovers reports whether the realm can still be used after the heap was
// full.
func (in *instance) recovers() bool {
	lib.XJS_RunGC(in.vm.tls, in.vm.rt)
	v := in.vm.eval("[1].concat([2]).length + `${1}`.length", "check", lib.MJS_EVAL_TYPE_GLOBAL)
	defer in.vm.free(v)
	if isException(v) {
		in.vm.dropException()
		return false
	}
	f, _ := number(v)
	return f == 3
}
