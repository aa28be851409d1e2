//go:build !(386 || arm || s390x)

package quickjs

import lib "modernc.org/libquickjs"

// numbers are numbers by name that the host keeps for a program, over its runs, in
// an object of the engine's: it is the program's memory that they take.
type numbers struct{ object value }

func (n *numbers) get(vm *vm, name string) (f float64, ok bool) {
	if !isObject(n.object) {
		return 0, false
	}
	v := vm.own(n.object, name)
	defer vm.free(v)
	return number(v)
}

// set returns false, with an exception pending, where there is no memory.
func (n *numbers) set(vm *vm, name string, f float64) bool {
	if !isObject(n.object) {
		object := lib.XJS_NewObjectProto(vm.tls, vm.ctx, null)
		if isException(object) {
			return false
		}
		n.object = object
	}
	atom := vm.atom(name)
	defer lib.XJS_FreeAtom(vm.tls, vm.ctx, atom)
	return atom != 0 && lib.XJS_DefinePropertyValue(vm.tls, vm.ctx, n.object, atom, newNumber(f), lib.MJS_PROP_C_W_E) >= 0
}

func (n *numbers) remove(vm *vm, name string) {
	if isObject(n.object) {
		atom := vm.atom(name)
		lib.XJS_DeleteProperty(vm.tls, vm.ctx, n.object, atom, 0)
		lib.XJS_FreeAtom(vm.tls, vm.ctx, atom)
	}
}

// atom returns the engine's form of a short name, to be freed; zero, with an
// exception pending, where there is no memory.
func (vm *vm) atom(name string) lib.TJSAtom {
	return lib.XJS_NewAtomLen(vm.tls, vm.ctx, vm.cName(name), lib.Tsize_t(len(name)))
}
