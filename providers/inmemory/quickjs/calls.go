package quickjs

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

// maxCalls bounds how many calls of the host's functions a program may have open
// at once.
const maxCalls = 4096

// hostCallTool begins a call of the function that its first argument names, with
// the second as the function's own, and returns a promise. What is wrong with
// the call rejects that.
func (in *instance) hostCallTool(_ value, args []value) value {
	vm := in.vm
	name, _, ok := vm.clipped(args[0], maxName)
	if !ok {
		return exception
	}
	call := in.program.Call
	if call == nil {
		// Never a nil call: the engine must not fail for what a program can do.
		call = noFunctions
	}
	return in.callHost(openCall{name: name, call: call}, args[1])
}

// hostFetch begins the HTTP request that its argument describes, and returns a promise.
func (in *instance) hostFetch(_ value, args []value) value {
	call := noFunctions
	if fetch := in.program.Fetch; fetch != nil {
		call = func(_ string, request json.RawMessage, answer func(json.RawMessage, error)) { fetch(request, answer) }
	}
	return in.callHost(openCall{name: "fetch", call: call}, args[0])
}

// callHost begins a call, and returns its promise.
func (in *instance) callHost(c openCall, args value) value {
	vm := in.vm
	promise := c.newPromise(vm)
	if isException(promise) {
		return exception
	}
	c.stack = in.rawStack()
	if in.beginCall(c, args) {
		return promise
	}
	// What is to end the program must not become a rejection, which it could handle.
	if !vm.stopping.Load() && in.fail(c) {
		c.free(vm)
		return promise
	}
	c.free(vm)
	vm.free(promise)
	return exception
}

// beginCall begins a call, which has c from then on. Where it returns false an
// exception is pending.
func (in *instance) beginCall(c openCall, args value) bool {
	if in.leaving { // nothing of the program runs any more that could see the answer
		return in.refuse(c, "the run has ended")
	}
	text, ok := in.toolArgs(c, args)
	if !ok {
		return false
	}
	d := in.replies
	if d == nil {
		d = newReplyQueue(in.config)
		in.replies = d
	}
	if len(d.open) >= maxCalls {
		return in.refuse(c, fmt.Sprintf("more than %d calls at once", maxCalls))
	}
	size := int64(len(text) + len(c.stack))
	if !d.charge(size) {
		return in.refuse(c, "there is no memory left for the arguments")
	}
	d.last++
	id := d.last
	d.open[id] = c
	c.call(c.name, text, func(v json.RawMessage, err error) {
		d.discharge(size)
		e, known := errors.AsType[*codeinterp.FunctionError](err)
		switch {
		case err == nil:
			d.put(reply{call: id, ok: true, text: string(v)})
		case known:
			d.put(reply{call: id, text: e.Message})
		} // else the run is about to end, and the program with it
	})
	return true
}

// refuse throws an error of the call. It returns false.
func (in *instance) refuse(c openCall, message string) bool {
	if e := in.toolError(c, message); !isException(e) {
		lib.XJS_Throw(in.vm.tls, in.vm.ctx, e)
	}
	return false
}

// toolArgs returns a function's arguments as JSON; ok is false where an exception
// is pending.
func (in *instance) toolArgs(c openCall, args value) (text []byte, ok bool) {
	if isUndefined(args) {
		return []byte("{}"), true
	}
	v := lib.XJS_JSONStringify(in.vm.tls, in.vm.ctx, args, undefined, undefined)
	defer in.vm.free(v)
	switch {
	case isException(v):
		return nil, false
	case !isString(v):
		in.vm.throw("TypeError", "the arguments of tools."+clip(c.name, 100)+" must be one object")
		return nil, false
	}
	text, _, ok = in.vm.textBytes(v, 0)
	return text, ok
}

// fail rejects a call with the pending exception. It returns false where another
// is pending then.
func (in *instance) fail(c openCall) bool {
	e := lib.XJS_GetException(in.vm.tls, in.vm.ctx)
	defer in.vm.free(e)
	return in.vm.settle(c.reject, e)
}

func noFunctions(name string, _ json.RawMessage, answer func(json.RawMessage, error)) {
	answer(nil, &codeinterp.FunctionError{Function: name, Message: "the run was given no function of this name"})
}

// answer settles the next call that was answered. found is false where there is
// none.
func (in *instance) answer() (out engine.Outcome, ended, found bool) {
	if in.replies == nil {
		return out, false, false
	}
	r, ok := in.replies.take()
	if !ok {
		return out, false, false
	}
	defer in.replies.budget.Give(r.cost)
	vm, c := in.vm, in.replies.open[r.call]
	delete(in.replies.open, r.call)
	defer c.free(vm)
	var v value
	if r.ok {
		v = in.parsed(r.text)
	} else {
		v = in.toolError(c, r.text)
	}
	ok = false
	switch {
	case !isException(v):
		function := c.resolve
		if !r.ok {
			function = c.reject
		}
		ok = vm.settle(function, v)
		vm.free(v)
	// See hostCallTool.
	case !vm.stopping.Load():
		ok = in.fail(c)
	}
	if !ok {
		out, ended = in.uncaught()
		return out, ended, true
	}
	out, ended = in.ended()
	return out, ended, true
}

// parsed returns what JSON text of a function says.
func (in *instance) parsed(text string) value {
	vm := in.vm
	return vm.lent(text, func(p uintptr) value {
		// The NUL is the empty name of a file too.
		return lib.XJS_ParseJSON(vm.tls, vm.ctx, p, lib.Tsize_t(len(text)), p+uintptr(len(text)))
	})
}

// toolError returns what a call fails with, in the line that made it.
func (in *instance) toolError(c openCall, message string) value {
	args := make([]value, 0, 3)
	for _, s := range []string{c.name, message, in.stackOf(c.stack)} {
		v := in.vm.newString(s)
		if isException(v) {
			return exception
		}
		defer in.vm.free(v)
		args = append(args, v)
	}
	return in.callLibrary("tools", "failure", undefined, args)
}

// calling reports whether calls are open.
func (in *instance) calling() bool { return in.replies != nil && len(in.replies.open) > 0 }

// next waits for the next timer or answer, and calls what waits for it. Where
// both are there, they take turns.
func (in *instance) next() (engine.Outcome, bool) {
	if !in.calling() {
		return in.nextTimer()
	}
	due := len(in.loop.timers) > 0 && !in.loop.timers[0].at.After(time.Now())
	// They take turns where a timer is due: a flood of answers would hold it up.
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
	case <-in.replies.wake:
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
	if name == "tools" {
		if isObject(in.toolset) { // execute has offered what this run has
			return vm.dup(in.toolset)
		}
		return in.offer()
	}
	exports := in.load("tools")
	if isException(exports) {
		return exception
	}
	defer vm.free(exports)
	return vm.own(exports, name)
}

// offer returns the one object of the instance that has the functions, those of the
// run: a program may have kept it.
func (in *instance) offer() value {
	vm := in.vm
	list := vm.newString(strings.Join(in.program.Functions, ","))
	if isException(list) {
		return exception
	}
	defer vm.free(list)
	set := in.callLibrary("tools", "offer", undefined, []value{list})
	if !isException(set) && !isObject(in.toolset) {
		in.toolset = vm.dup(set)
	}
	return set
}
