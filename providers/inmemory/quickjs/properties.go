//go:build !(386 || arm || s390x)

package quickjs

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// maxName is how much is looked at of a property's name.
const maxName = 1 << 10

// keys returns the names of an object's own enumerable properties, at most so many.
func (vm *vm) keys(obj value, most int) ([]string, bool) {
	return vm.ownNames(obj, lib.MJS_GPN_STRING_MASK|lib.MJS_GPN_ENUM_ONLY, most)
}

// ownNames returns the names of an object's own properties of a kind, at most so
// many. What is no name that anybody has written is cut short.
func (vm *vm) ownNames(obj value, kind int32, most int) ([]string, bool) {
	tab, n := vm.tls.Alloc(16), uintptr(0)
	defer vm.tls.Free(16)
	if lib.XJS_GetOwnPropertyNames(vm.tls, vm.ctx, tab, tab+8, obj, kind) < 0 {
		return nil, false
	}
	list := *at[uintptr](tab)
	n = uintptr(*at[uint32](tab + 8))
	var names []string
	for i := range min(n, uintptr(most)) {
		atom := at[lib.TJSPropertyEnum](list + i*unsafe.Sizeof(lib.TJSPropertyEnum{})).Fatom
		v := lib.XJS_AtomToValue(vm.tls, vm.ctx, atom)
		if s, _, ok := vm.clipped(v, maxName); ok {
			names = append(names, s)
		}
		vm.free(v)
	}
	lib.XJS_FreePropertyEnum(vm.tls, vm.ctx, list, uint32(n))
	return names, true
}
