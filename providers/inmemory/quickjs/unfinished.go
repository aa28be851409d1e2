package quickjs

import (
	"iter"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// A module that a run leaves half made would be found again by its name, and never be
// done. So it loses its name: the next import reads and evaluates the file anew. It is
// not freed, as others may refer to it.

// Bit fields of lib.TJSModuleDef.
const (
	moduleStatus = 24   // of F__ccgo144, one of lib.EJS_MODULE_STATUS_*
	moduleAwaits = 0xff // of F__ccgo144
	moduleFailed = 0xff // of F__ccgo256
)

// modules are the addresses of the program's modules that have a name or had one.
func (vm *vm) modules() iter.Seq[uintptr] {
	return func(yield func(uintptr) bool) {
		head := &at[lib.TJSContext](vm.realms[0]).Floaded_modules
		for link := head.Fnext; link != uintptr(unsafe.Pointer(head)); link = at[lib.Tlist_head](link).Fnext {
			if !yield(link - unsafe.Offsetof(lib.TJSModuleDef{}.Flink)) {
				return
			}
		}
	}
}

// forgetUnfinished forgets at the end of a run what could not be linked. Where the run
// did not end well it also forgets what is not evaluated: nothing of what that waits for
// goes on.
func (in *instance) forgetUnfinished(well bool) {
	stopped := in.vm.stopping.Load()
	in.vm.forget(func(addr uintptr) bool {
		m := at[lib.TJSModuleDef](addr)
		switch m.F__ccgo144 >> moduleStatus {
		case lib.EJS_MODULE_STATUS_UNLINKED:
			return true
		case lib.EJS_MODULE_STATUS_EVALUATING, lib.EJS_MODULE_STATUS_EVALUATING_ASYNC:
			return !well
		case lib.EJS_MODULE_STATUS_EVALUATED:
			// The promise of a module that was stopped is pending, and what it seems to have thrown
			// is the engine's.
			failed := m.F__ccgo256&moduleFailed != 0
			return !well && failed && (in.vm.evaluating(addr) || stopped && !isObject(m.Fpromise))
		}
		return false
	})
}

// evaluating reports whether the promise of a module's evaluation, or of that of the circle
// that it belongs to, is pending.
func (vm *vm) evaluating(addr uintptr) bool {
	m := at[lib.TJSModuleDef](addr)
	if root := m.Fcycle_root; root != 0 {
		m = at[lib.TJSModuleDef](root)
	}
	return isObject(m.Fpromise) && lib.XJS_PromiseState(vm.tls, vm.ctx, m.Fpromise) == lib.EJS_PROMISE_PENDING
}

// evaluated reports whether the promise that is being rejected is the one that the engine
// has of a module without await: the module has no frame any more, and is not settled yet.
func (vm *vm) evaluated() bool {
	if at[lib.TJSRuntime](vm.rt).Fcurrent_stack_frame != 0 {
		return false
	}
	for addr := range vm.modules() {
		m := at[lib.TJSModuleDef](addr)
		switch m.F__ccgo144 >> moduleStatus {
		case lib.EJS_MODULE_STATUS_EVALUATING:
			return true
		case lib.EJS_MODULE_STATUS_EVALUATING_ASYNC:
			if m.F__ccgo144&moduleAwaits == 0 && m.Fpending_async_dependencies == 0 {
				return true // what it imports has just been done
			}
		}
	}
	return false
}

// forgetDangling forgets the modules that refer to one that the engine has freed since
// it could not be loaded: its imports, where these import it in turn.
func (vm *vm) forgetDangling() {
	there := map[uintptr]bool{}
	for m := range vm.modules() {
		there[m] = true
	}
	vm.forget(func(m uintptr) bool {
		for dep := range required(m) {
			if !there[dep] {
				return true
			}
		}
		return false
	})
}

// forget takes the names of some modules, and of those that import one of these.
func (vm *vm) forget(chosen func(module uintptr) bool) {
	var gone map[uintptr]bool
	for m := range vm.modules() {
		if at[lib.TJSModuleDef](m).Fmodule_name != lib.MJS_ATOM_NULL && chosen(m) {
			if gone == nil {
				gone = map[uintptr]bool{}
			}
			gone[m] = true
		}
	}
	for more := gone != nil; more; {
		more = false
		for m := range vm.modules() {
			for dep := range required(m) {
				if gone[dep] && !gone[m] {
					gone[m], more = true, true
				}
			}
		}
	}
	for addr := range gone {
		m := at[lib.TJSModuleDef](addr)
		lib.XJS_FreeAtom(vm.tls, vm.ctx, m.Fmodule_name)
		m.Fmodule_name = lib.MJS_ATOM_NULL
	}
}

// required are the modules that one imports, as far as they were loaded.
func required(addr uintptr) iter.Seq[uintptr] {
	m := at[lib.TJSModuleDef](addr)
	return func(yield func(uintptr) bool) {
		for i := range uintptr(m.Freq_module_entries_count) {
			entry := at[lib.TJSReqModuleEntry](m.Freq_module_entries + i*unsafe.Sizeof(lib.TJSReqModuleEntry{}))
			if entry.Fmodule != 0 && !yield(entry.Fmodule) {
				return
			}
		}
	}
}
