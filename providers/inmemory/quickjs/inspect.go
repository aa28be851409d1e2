package quickjs

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// cMicrotask is the job of queueMicrotask.
func cMicrotask(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) value {
	return lib.XJS_Call(tls, ctx, *at[value](argv), undefined, 0, 0)
}

// hostInspect is inspect(value, options) for programs.
func (in *instance) hostInspect(_ value, args []value) value {
	s, _, thrown := in.driverCall("inspect", args[0], args[1])
	if thrown {
		return exception
	}
	return in.vm.newStringOf(s)
}

// hostFormat is util.format for programs.
func (in *instance) hostFormat(_ value, args []value) value {
	s, ok := in.format(args)
	if !ok {
		return exception
	}
	return in.vm.newStringOf(s)
}

// hostProxyTarget returns what a proxy stands for, null where it was revoked.
func (in *instance) hostProxyTarget(_ value, args []value) value {
	if classOf(args[0]) != lib.EJS_CLASS_PROXY {
		return in.vm.dup(args[0])
	}
	p := at[lib.TJSProxyData](objectData(ptr(args[0])))
	if p.Fis_revoked != 0 {
		return null
	}
	return in.vm.dup(p.Ftarget)
}

// hostPromise returns undefined for a pending promise, and an array of whether
// it was fulfilled and its value for a settled one.
func (in *instance) hostPromise(_ value, args []value) value {
	vm := in.vm
	if classOf(args[0]) != lib.EJS_CLASS_PROMISE {
		return undefined
	}
	state := lib.XJS_PromiseState(vm.tls, vm.ctx, args[0])
	if state == lib.EJS_PROMISE_PENDING {
		return undefined
	}
	return vm.newList(newBool(state == lib.EJS_PROMISE_FULFILLED), lib.XJS_PromiseResult(vm.tls, vm.ctx, args[0]))
}

// hostFunctionKind tells functions apart: 0 plain, 1 class, 2 generator, 3
// async, 4 async generator.
func (in *instance) hostFunctionKind(_ value, args []value) value {
	switch classOf(args[0]) {
	case lib.EJS_CLASS_GENERATOR_FUNCTION:
		return newInt(2)
	case lib.EJS_CLASS_ASYNC_FUNCTION:
		return newInt(3)
	case lib.EJS_CLASS_ASYNC_GENERATOR_FUNCTION:
		return newInt(4)
	case lib.EJS_CLASS_BYTECODE_FUNCTION:
		code := at[lib.TJSFunctionBytecode](objectData(ptr(args[0])))
		isClass := code.Fdebug.Fsource != 0 && code.Fdebug.Fsource_len > 5 &&
			(span{code.Fdebug.Fsource, 5}).text() == "class"
		if isClass {
			return newInt(1)
		}
	}
	return newInt(0)
}

func (in *instance) hostMapStack(_ value, args []value) value {
	s, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	return in.vm.newString(framesOf(s))
}

// inspectOptions are what hostCustomInspect gets behind the value, the method and the
// depth that is left.
var inspectOptions = []string{"depth", "breakLength", "compact", "maxArrayLength", "maxStringLength"}

// hostCustomInspect calls a program's own inspect method with a depth, in the
// program's realm.
func (in *instance) hostCustomInspect(_ value, args []value) value {
	vm := in.vm
	home := vm.ctx
	vm.ctx = vm.realms[0]
	defer func() { vm.ctx = home }()
	options := lib.XJS_NewObject(vm.tls, vm.ctx)
	defer vm.free(options)
	vm.set(options, "stylize", in.newFunction(in.magicOf("stylize")), lib.MJS_PROP_C_W_E)
	for i, name := range inspectOptions {
		vm.set(options, name, vm.dup(args[3+i]), lib.MJS_PROP_C_W_E)
	}
	inspect := in.newFunction(in.magicOf("inspect"))
	defer vm.free(inspect)
	return vm.call(args[1], args[0], args[2], options, inspect)
}

// hostStylize is stylize(text, style) of a program's inspect method: there are no colors.
func (in *instance) hostStylize(_ value, args []value) value {
	return lib.XJS_ToString(in.vm.tls, in.vm.ctx, args[0])
}

// magicOf returns the magic number of a host function.
func (in *instance) magicOf(name string) int {
	for i, f := range in.table.functions {
		if f.name == name {
			return i
		}
	}
	panic("quickjs: no host function " + name)
}

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
