package quickjs

import (
	"slices"

	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// cRejected is called by the engine when a promise is rejected that no code
// waits for, and when somebody comes to wait for it.
func cRejected(_ *libc.TLS, _ uintptr, promise, reason value, handled int32, opaque uintptr) {
	vm := at[vm](opaque)
	l := &vm.in.loop
	key := ptr(promise)
	if handled != 0 {
		l.forget(vm, key)
		return
	}
	if vm.evaluated() {
		return // what a module throws is its importer's
	}
	if l.rejected == nil {
		l.rejected = map[uintptr]rejection{}
	}
	if _, ok := l.rejected[key]; !ok {
		l.seq++
		l.rejected[key] = rejection{vm.dup(promise), vm.dup(reason), l.seq, vm.heap.hold(rejectionSize)}
		// Entries of those that are gone go now and then: each time would cost their square.
		if l.order = append(l.order, place{key, l.seq}); len(l.order) > 2*len(l.rejected)+1000 {
			l.order = slices.DeleteFunc(l.order, func(q place) bool { return l.rejected[q.promise].seq != q.seq })
		}
	}
}

// forget drops a promise that was rejected, if it is still there.
func (l *loop) forget(vm *vm, key uintptr) {
	if r, ok := l.rejected[key]; ok {
		delete(l.rejected, key)
		r.free(vm)
	}
}

// firstRejected returns the oldest of them, of which there are some, and its key.
func (l *loop) firstRejected() (key uintptr, first rejection) {
	for {
		q := l.order[0]
		if r := l.rejected[q.promise]; r.seq == q.seq {
			return q.promise, r
		}
		l.order = l.order[1:]
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
		key, r := in.loop.firstRejected()
		handled, out, ended := in.handler("onRejection", r.reason, r.promise)
		if ended {
			return out, true
		}
		if !handled {
			return in.failed(in.vm.dup(r.reason)), true
		}
		// The handler may have come to wait for the promise, see cRejected.
		in.loop.forget(in.vm, key)
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
	in.loop.forget(in.vm, ptr(main))
	return out, ended
}
