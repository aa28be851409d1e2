//go:build !(386 || arm || s390x)

package quickjs

import (
	"slices"
	"strings"

	lib "modernc.org/libquickjs"
)

// maxSite is how many frames deep a call may be for its site to be known again.
const maxSite = 16

// A callSite is where in a program a call was made. A program in a loop calls
// from the same one again and again.
type callSite struct {
	frames []siteFrame // none for one that is deeper than maxSite
	held   []value     // their functions
	stack  string      // the engine's
}

// A siteFrame is a function of the program and where in it the call is.
type siteFrame struct{ function, pc uintptr }

// size is what a call holds of the host's memory for where it was made. That of one
// site for many calls is small.
func (s *callSite) size() int64 {
	if s.frames != nil {
		return 0
	}
	return int64(len(s.stack))
}

func (s *callSite) free(vm *vm) {
	for _, f := range s.held {
		vm.free(f)
	}
	s.held = nil
}

// callSite returns where the program is. It keeps the last one.
func (in *instance) callSite() *callSite {
	vm := in.vm
	var array [maxSite]siteFrame
	frames, held := array[:0], [maxSite]value{}
	for addr := at[lib.TJSRuntime](vm.rt).Fcurrent_stack_frame; addr != 0; {
		sf := at[lib.TJSStackFrame](addr)
		if len(frames) == maxSite {
			// Not kept for the next call: to compare many frames would take longer than their text.
			return &callSite{stack: vm.rawStack()}
		}
		held[len(frames)] = sf.Fcur_func
		frames = append(frames, siteFrame{ptr(sf.Fcur_func), sf.Fcur_pc})
		addr = sf.Fprev_frame
	}
	if s := in.site; s != nil && slices.Equal(s.frames, frames) {
		return s
	}
	if in.site != nil {
		in.site.free(vm)
	}
	s := &callSite{frames: slices.Clone(frames), stack: vm.rawStack()}
	for _, f := range held[:len(frames)] {
		// They are kept alive, so that no other function gets the address of one.
		s.held = append(s.held, vm.dup(f))
	}
	in.site = s
	return s
}

// rawStack returns the engine's own stack of where the program is.
func (vm *vm) rawStack() string {
	// The engine's own text: mapStack needs its positions, and is asked only where the
	// call fails.
	vm.rawErrors = true
	lib.XJS_ThrowInternalError(vm.tls, vm.ctx, vm.cName(""), 0)
	vm.rawErrors = false
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	defer vm.free(e)
	if v := slot(e, lib.EJS_ATOM_stack); v != nil {
		s, _ := vm.prefix(*v, maxFrameSet)
		return s
	}
	return ""
}

// stackOf returns what follows the first line of a stack.
func (in *instance) stackOf(s *callSite) string {
	return strings.TrimRight("\n"+in.mapStack(s.stack, in.vm.frameLimit()), "\n")
}
