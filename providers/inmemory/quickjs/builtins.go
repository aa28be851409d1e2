//go:build !(386 || arm || s390x)

package quickjs

import lib "modernc.org/libquickjs"

// A builtin is a method of the language that the engine lacks or gets wrong.
// It stands in the realm from the start and loads the library that implements
// it when it is first called, so that a context costs no more for it.
type builtin struct {
	object string // the name of the global; the method is on its prototype
	static bool   // the method is on the global itself
	name   string
	arity  int
	lib    string
	export string
}

var builtinMethods = []builtin{
	{"Number", false, "toLocaleString", 0, "intl", "numberToLocaleString"},
	{"BigInt", false, "toLocaleString", 0, "intl", "bigintToLocaleString"},
	{"Date", false, "toLocaleString", 0, "intl", "dateToLocaleString"},
	{"Date", false, "toLocaleDateString", 0, "intl", "dateToLocaleDateString"},
	{"Date", false, "toLocaleTimeString", 0, "intl", "dateToLocaleTimeString"},
	{"Date", false, "toString", 0, "intl", "dateToString"},
	{"Date", false, "toTimeString", 0, "intl", "dateToTimeString"},
	{"String", false, "localeCompare", 1, "intl", "localeCompare"},
	{"String", false, "toLocaleLowerCase", 0, "language", "toLocaleLowerCase"},
	{"String", false, "toLocaleUpperCase", 0, "language", "toLocaleUpperCase"},
	{"Array", false, "toLocaleString", 0, "language", "arrayToLocaleString"},
	{"Array", true, "fromAsync", 1, "language", "fromAsync"},
	{"Error", true, "captureStackTrace", 2, "language", "captureStackTrace"},
	{"JSON", true, "parse", 2, "language", "jsonParse"},
	{"Iterator", false, "map", 1, "language", "iteratorMap"},
	{"Iterator", false, "filter", 1, "language", "iteratorFilter"},
	{"Iterator", false, "flatMap", 1, "language", "iteratorFlatMap"},
	{"Iterator", false, "take", 1, "language", "iteratorTake"},
	{"Iterator", false, "drop", 1, "language", "iteratorDrop"},
}

// builtinFunctions are the host functions behind builtinMethods, in their
// order.
func builtinFunctions() []function {
	list := make([]function, len(builtinMethods))
	for i, b := range builtinMethods {
		list[i] = function{b.name, b.arity, func(in *instance, this value, args []value) value {
			return in.callLibrary(b.lib, b.export, this, args)
		}}
	}
	return list
}

func (in *instance) callLibrary(name, export string, this value, args []value) value {
	exports := in.load(name)
	if isException(exports) {
		return exception
	}
	defer in.vm.free(exports)
	fn := in.vm.own(exports, export)
	defer in.vm.free(fn)
	return in.vm.call(fn, this, args...)
}

// installBuiltins puts builtinMethods into a new realm and keeps what they
// replace for hostOriginal. Their host functions begin at index first.
func (in *instance) installBuiltins(global value, first int) {
	vm := in.vm
	in.originals = make([]value, len(builtinMethods))
	for i, b := range builtinMethods {
		object := vm.own(global, b.object)
		if !b.static && isObject(object) {
			proto := vm.own(object, "prototype")
			vm.free(object)
			object = proto
		}
		in.originals[i] = vm.own(object, b.name)
		vm.set(object, b.name, in.newFunction(first+i), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
		vm.free(object)
	}
}

// hostOriginal returns the engine's own method behind an export of a library.
func (in *instance) hostOriginal(_ value, args []value) value {
	export, _, ok := in.vm.clipped(args[0], 64)
	if !ok {
		return exception
	}
	for i, b := range builtinMethods {
		if b.export == export {
			return in.vm.dup(in.originals[i])
		}
	}
	return undefined
}
