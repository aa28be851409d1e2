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

// forgetUnfinished forgets at the end of a run what could not be linked and, where the
// run did not end well, what is not evaluated or has failed.
func (in *instance) forgetUnfinished(well bool) {
	in.vm.forget(func(m *lib.TJSModuleDef) bool {
		switch m.F__ccgo144 >> moduleStatus {
		case lib.EJS_MODULE_STATUS_EVALUATING, lib.EJS_MODULE_STATUS_EVALUATING_ASYNC:
			return !well
		case lib.EJS_MODULE_STATUS_EVALUATED:
			root := m // of the circle of modules that it belongs to
			if m.Fcycle_root != 0 {
				root = at[lib.TJSModuleDef](m.Fcycle_root)
			}
			return !well && (m.F__ccgo256&moduleFailed != 0 || root.F__ccgo144>>moduleStatus != lib.EJS_MODULE_STATUS_EVALUATED)
		}
		return unlinked(m)
	})
}

// unlinked reports whether a module was not linked: it may refer to one that the engine
// has freed, since that could not be loaded.
func unlinked(m *lib.TJSModuleDef) bool {
	return m.F__ccgo144>>moduleStatus == lib.EJS_MODULE_STATUS_UNLINKED
}

// forget takes the names of some modules.
func (vm *vm) forget(chosen func(m *lib.TJSModuleDef) bool) {
	for addr := range vm.modules() {
		if m := at[lib.TJSModuleDef](addr); m.Fmodule_name != lib.MJS_ATOM_NULL && chosen(m) {
			lib.XJS_FreeAtom(vm.tls, vm.ctx, m.Fmodule_name)
			m.Fmodule_name = lib.MJS_ATOM_NULL
		}
	}
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
