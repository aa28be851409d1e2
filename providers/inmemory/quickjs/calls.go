//go:build !(386 || arm || s390x)

package quickjs

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// maxCalls bounds how many calls of the host's functions a program may have open
// at once.
const maxCalls = 10_000

// A desk is where the answers to a run's calls come in. Everything but open is
// for any goroutine; those that wait for an answer may outlive the run.
type desk struct {
	budget engine.Budget
	open   map[int]value // callbacks, by call; of the engine's goroutine
	last   int
	wake   chan struct{} // an answer came

	mu      sync.Mutex
	closed  bool
	answers []reply
}

// A reply is the answer to a call.
type reply struct {
	call int
	ok   bool
	text string // JSON, or why it failed
	cost int64  // what the budget holds for it
}

func newDesk(b engine.Budget) *desk {
	return &desk{budget: b, open: map[int]value{}, wake: make(chan struct{}, 1)}
}

// put takes an answer, unless the run is over.
func (d *desk) put(r reply) {
	if !d.budget.Take(int64(len(r.text))) {
		r.ok, r.text = false, "there is no memory left for the result"
	} else {
		r.cost = int64(len(r.text))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		d.budget.Give(r.cost)
		return
	}
	d.answers = append(d.answers, r)
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take returns the next answer.
func (d *desk) take() (r reply, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.answers) == 0 {
		return r, false
	}
	r = d.answers[0]
	d.answers = slices.Delete(d.answers, 0, 1)
	return r, true
}

// close drops what is open. Answers that come are no longer taken.
func (d *desk) close(vm *vm) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, r := range d.answers {
		d.budget.Give(r.cost)
	}
	for _, fn := range d.open {
		vm.free(fn)
	}
	d.answers, d.open = nil, nil
}

// hostCallTool begins a call: its arguments are the function's name, its own
// arguments as JSON, and a callback of whether it worked and JSON or a message.
func (in *instance) hostCallTool(_ value, args []value) value {
	name, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	if !isString(args[1]) {
		return in.vm.throw("TypeError", "the arguments of tools."+clip(name, 100)+" must be one object")
	}
	text, ok := in.vm.text(args[1])
	if !ok {
		return exception
	}
	call := in.program.Call
	if call == nil {
		call = nobody
	}
	d := in.desk
	if d == nil {
		d = newDesk(in.config.Budget)
		in.desk = d
	}
	if len(d.open) >= maxCalls {
		return in.vm.throw("RangeError", "too many calls in progress; wait for some")
	}
	d.last++
	id := d.last
	d.open[id] = in.vm.dup(args[2])
	go func() {
		v, err := call(context.Background(), name, json.RawMessage(text))
		e, told := errors.AsType[*codeinterp.FunctionError](err)
		switch {
		case err == nil:
			d.put(reply{call: id, ok: true, text: string(v)})
		case told:
			d.put(reply{call: id, text: e.Message})
		} // else the run is about to end, and the program with it
	}()
	return undefined
}

func nobody(_ context.Context, name string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, &codeinterp.FunctionError{Function: name, Message: "the run was given no functions"}
}

// answer settles the next call that was answered. found is false where there is
// none.
func (in *instance) answer() (out engine.Outcome, ended, found bool) {
	if in.desk == nil {
		return out, false, false
	}
	r, ok := in.desk.take()
	if !ok {
		return out, false, false
	}
	defer in.desk.budget.Give(r.cost)
	vm, fn := in.vm, in.desk.open[r.call]
	delete(in.desk.open, r.call)
	defer vm.free(fn)
	text := vm.newString(r.text)
	if isException(text) {
		out, ended = in.uncaught()
		return out, ended, true
	}
	v := vm.call(fn, undefined, newBool(r.ok), text)
	vm.free(text)
	if isException(v) {
		out, ended = in.uncaught()
		return out, ended, true
	}
	vm.free(v)
	out, ended = in.ended()
	return out, ended, true
}

// calling reports whether calls are open.
func (in *instance) calling() bool { return in.desk != nil && len(in.desk.open) > 0 }

// next waits for the next timer or answer, and calls what waits for it. Where
// both are there, they take turns.
func (in *instance) next() (engine.Outcome, bool) {
	if !in.calling() {
		return in.nextTimer()
	}
	due := len(in.loop.timers) > 0 && !in.loop.timers[0].at.After(time.Now())
	if !due || !in.answered {
		in.answered = true
		for range 3 { // a function that is quick answers while others have their turn
			if out, ended, found := in.answer(); found {
				return out, ended
			}
			if due {
				break
			}
			runtime.Gosched()
		}
	}
	if due {
		in.answered = false
		return in.nextTimer()
	}
	in.idle(in.awaitAnswer)
	if in.stop.Err() != nil {
		in.vm.stopping.Store(true)
	}
	return in.ended()
}

// awaitAnswer waits for an answer, a timer or the end.
func (in *instance) awaitAnswer() {
	var timer <-chan time.Time
	if len(in.loop.timers) > 0 {
		t := time.NewTimer(time.Until(in.loop.timers[0].at))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-in.desk.wake:
	case <-timer:
	case <-in.stop.Done():
	}
}

// tools returns what is under a name of the library for calls: the object whose
// methods are the run's functions, or the class of their errors. Without
// functions there is neither.
func (in *instance) tools(name string) value {
	vm := in.vm
	if len(in.program.Functions) == 0 {
		return undefined
	}
	exports := in.load("tools")
	if isException(exports) {
		return exception
	}
	defer vm.free(exports)
	if name != "tools" {
		return vm.own(exports, name)
	}
	names := strings.Join(in.program.Functions, ",")
	if isObject(in.toolset) && names == in.toolNames {
		return vm.dup(in.toolset)
	}
	list := vm.newString(names)
	if isException(list) {
		return exception
	}
	defer vm.free(list)
	make := vm.own(exports, "make")
	defer vm.free(make)
	set := vm.call(make, undefined, list)
	if isException(set) {
		return exception
	}
	vm.free(in.toolset)
	in.toolset, in.toolNames = set, names
	return vm.dup(set)
}
