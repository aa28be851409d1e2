package quickjs

import lib "modernc.org/libquickjs"

// maxSite is how many frames a site has at most.
const maxSite = 16

// backtraceBarrier is a mode of a frame that ends the engine's stacks.
const backtraceBarrier = 1 << 3

// A site is where the program has called the host, and the engine's stack of that, which
// takes the engine longer than the rest of a call. A loop makes its calls in one place.
type site struct {
	frames []siteFrame // innermost first
	stack  string
}

type siteFrame struct {
	fn value   // a reference, so that no other function has its address meanwhile
	pc uintptr // zero in a function of the host
}

// rawStack returns the engine's own stack of where the program is.
func (in *instance) rawStack() string {
	vm, last := in.vm, &in.site
	var buffer [maxSite]siteFrame
	frames, whole := vm.callers(buffer[:0])
	if whole && last.has(frames) {
		return last.stack
	}
	stack := vm.printStack()
	if last.free(vm); whole {
		last.stack, last.frames = stack, append(last.frames, frames...)
		for _, f := range frames {
			vm.dup(f.fn)
		}
	}
	return stack
}

// callers adds the frames of the program to list; whole is false where there are more than
// it has room for.
func (vm *vm) callers(list []siteFrame) (_ []siteFrame, whole bool) {
	for addr := at[lib.TJSRuntime](vm.rt).Fcurrent_stack_frame; addr != 0; {
		f := at[lib.TJSStackFrame](addr)
		if f.Fjs_mode&backtraceBarrier != 0 {
			break
		}
		if len(list) == cap(list) {
			return list, false
		}
		var pc uintptr
		switch classOf(f.Fcur_func) {
		case lib.EJS_CLASS_BYTECODE_FUNCTION, lib.EJS_CLASS_GENERATOR_FUNCTION, lib.EJS_CLASS_ASYNC_FUNCTION, lib.EJS_CLASS_ASYNC_GENERATOR_FUNCTION:
			pc = f.Fcur_pc
		}
		list = append(list, siteFrame{f.Fcur_func, pc})
		addr = f.Fprev_frame
	}
	return list, true
}

// has reports whether the site has these frames.
func (s *site) has(frames []siteFrame) bool {
	if len(s.frames) != len(frames) {
		return false
	}
	for i, f := range frames {
		if ptr(f.fn) != ptr(s.frames[i].fn) || f.pc != s.frames[i].pc {
			return false
		}
	}
	return true
}

// free forgets the site.
func (s *site) free(vm *vm) {
	for _, f := range s.frames {
		vm.free(f.fn)
	}
	s.frames, s.stack = s.frames[:0], ""
}
