package quickjs

import (
	"slices"

	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// cRejected is called by the engine when a promise is rejected that no code
// waits for, and when some code comes to wait for it.
func cRejected(_ *libc.TLS, _ uintptr, promise, reason value, handled int32, opaque uintptr) {
	vm := at[vm](opaque)
	l := &vm.in.loop
	if handled != 0 {
		l.forget(vm, promise)
	} else if !vm.evaluated() { // what a module throws is its importer's
		l.rejected = append(l.rejected, rejection{vm.dup(promise), vm.dup(reason), vm.heap.hold(rejectionSize)})
	}
}

// forget drops a promise that was rejected, if it is still there: mostly the last or the
// first one.
func (l *loop) forget(vm *vm, promise value) {
	for i := len(l.rejected) - 1; i >= 0; i-- {
		if ptr(l.rejected[0].promise) == ptr(promise) {
			i = 0
		}
		if r := l.rejected[i]; ptr(r.promise) == ptr(promise) {
			if i == 0 {
				l.rejected = l.rejected[1:]
			} else {
				l.rejected = slices.Delete(l.rejected, i, i+1)
			}
			r.free(vm)
			return
		}
	}
}

// uncaught takes the pending exception to the program's own handlers of
// uncaughtException. Where there are none, it is how the program ended.
func (in *instance) uncaught() (engine.Outcome, bool) {
	e := lib.XJS_GetException(in.vm.tls, in.vm.ctx)
	if in.vm.stopping.Load() {
		return in.failed(e), true
	}
	handled, out, ended := in.handler("onUncaught", e)
	if ended || handled {
		in.vm.free(e)
		return out, ended
	}
	return in.failed(e), true
}

// handler asks the runtime for node, if the program uses it, whether a handler
// of the program took care of a fault. ended is true where that ended the
// program, and out says how.
func (in *instance) handler(name string, args ...value) (handled bool, out engine.Outcome, ended bool) {
	v := in.tell(name, args...)
	if isException(v) {
		out = in.failed(lib.XJS_GetException(in.vm.tls, in.vm.ctx))
		if name == "onUncaught" && out.Error != nil && !out.Stopped {
			out.ExitCode = exitHandler
		}
		return false, out, true
	}
	defer in.vm.free(v)
	return tag(v) == lib.EJS_TAG_BOOL && intOf(v) != 0, out, false
}

// tell calls a function of the runtime for node, if the program uses it.
func (in *instance) tell(name string, args ...value) value {
	exports, loaded := in.loaded["node"]
	if !loaded {
		return undefined
	}
	fn := in.vm.own(exports, name)
	defer in.vm.free(fn)
	return in.vm.call(fn, undefined, args...)
}

// unhandled reports a promise that was rejected and has no handler.
func (in *instance) unhandled(main value) (engine.Outcome, bool) {
	if !in.last.caught && in.rejected(main) {
		if out, ended := in.thrown(main); ended {
			return out, true
		}
	}
	for len(in.loop.rejected) > 0 {
		r := in.loop.rejected[0]
		handled, out, ended := in.handler("onRejection", r.reason, r.promise)
		if ended {
			return out, true
		}
		if !handled {
			return in.failed(in.vm.dup(r.reason)), true
		}
		// The handler may have come to wait for the promise, see cRejected.
		in.loop.forget(in.vm, r.promise)
		if out, ended := in.jobs(); ended {
			return out, true
		}
	}
	return engine.Outcome{}, false
}

func (in *instance) rejected(promise value) bool {
	return isObject(promise) && lib.XJS_PromiseState(in.vm.tls, in.vm.ctx, promise) == lib.EJS_PROMISE_REJECTED
}

// thrown takes what the program itself threw, or what its value was rejected with,
// to its handlers of that. Where there are none, it is how it ended.
func (in *instance) thrown(main value) (engine.Outcome, bool) {
	reason := lib.XJS_PromiseResult(in.vm.tls, in.vm.ctx, main)
	name, args := "onUncaught", []value{reason}
	if in.last.promised {
		name, args = "onRejection", []value{reason, main}
	}
	handled, out, ended := in.handler(name, args...)
	if !ended && !handled {
		return in.failed(reason), true
	}
	in.vm.free(reason)
	in.last = last{value: undefined, caught: true, promised: in.last.promised}
	in.loop.forget(in.vm, main)
	return out, ended
}
