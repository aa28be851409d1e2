//go:build !(386 || arm || s390x)

package quickjs

import (
	"unsafe"

	lib "modernc.org/libquickjs"
)

// maxEntries is how many things of an iterator are shown at most: the host holds them.
const maxEntries = 100_000

// hostEntries returns what an iterator of a Map or a Set has still to give, as an
// array: its kind (0 keys, 1 values, 2 both), how many things those are, and the first
// of them, at most as many as the second argument says. The iterator stays where it is.
func (in *instance) hostEntries(_ value, args []value) value {
	class := classOf(args[0])
	if class != lib.EJS_CLASS_MAP_ITERATOR && class != lib.EJS_CLASS_SET_ITERATOR {
		return undefined
	}
	vm := in.vm
	most := int(within(args[1], maxEntries))
	it := at[lib.TJSMapIteratorData](objectData(ptr(args[0])))
	kind, count, items := int(it.Fkind), 0, []value(nil)
	vm.records(it, func(r *lib.TJSMapRecord) {
		if count++; count > most {
			return
		}
		if kind != lib.EJS_ITERATOR_KIND_VALUE {
			items = append(items, vm.dup(r.Fkey))
		}
		if kind != lib.EJS_ITERATOR_KIND_KEY {
			v := r.Fvalue
			if class == lib.EJS_CLASS_SET_ITERATOR {
				v = r.Fkey
			}
			items = append(items, vm.dup(v))
		}
	})
	if class == lib.EJS_CLASS_SET_ITERATOR && kind == lib.EJS_ITERATOR_KIND_KEY {
		kind = lib.EJS_ITERATOR_KIND_VALUE
	}
	// Only now, since the engine may free records while it makes something.
	return vm.newList(append([]value{newInt(int32(kind)), newInt(int32(count))}, items...)...)
}

// records calls do with the records that an iterator has before it, which it must not
// change.
func (vm *vm) records(it *lib.TJSMapIteratorData, do func(*lib.TJSMapRecord)) {
	if !isObject(it.Fobj) { // it has ended
		return
	}
	const link = unsafe.Offsetof(lib.TJSMapRecord{}.Flink)
	head := objectData(ptr(it.Fobj)) + unsafe.Offsetof(lib.TJSMapState{}.Frecords)
	el := at[lib.Tlist_head](head).Fnext
	if it.Fcur_record != 0 {
		el = at[lib.TJSMapRecord](it.Fcur_record).Flink.Fnext
	}
	for el != head && !vm.stopping.Load() {
		r := at[lib.TJSMapRecord](el - link)
		if r.F__ccgo4&1 == 0 { // or it was deleted
			do(r)
		}
		el = r.Flink.Fnext
	}
}
