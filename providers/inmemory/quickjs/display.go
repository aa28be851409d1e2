package quickjs

import (
	"strconv"

	"github.com/toolcell/toolcell/codeinterp"
	lib "modernc.org/libquickjs"
)

// These bound a display as package subprocess does: its representations, the bytes
// of its id, of a MIME type and of its metadata.
const (
	maxBundle   = 64
	maxID       = 1 << 10
	maxMIME     = 256
	maxMetadata = 64 << 10
)

// What display, updateDisplay and clearOutput take, and what they throw, is that of the
// driver of package subprocess for node, which has them in JavaScript. Of a bundle no
// getter is called, and a proxy of one is shown as text.

// display is display(mime, data, {id, update, metadata}), display(bundle, options), or
// display(value, options) for any other value, as text.
func (in *instance) display(_ value, args []value) value {
	mime, data, options := args[0], args[1], args[2]
	if !(isString(mime) && !isUndefined(data)) && isNullish(options) {
		options = data
	}
	return in.showBundle(mime, data, func(o *codeinterp.Output) bool { return in.displayOptions(o, options) })
}

// updateDisplay is updateDisplay(id, mime, data), updateDisplay(id, bundle) or
// updateDisplay(id, value).
func (in *instance) updateDisplay(_ value, args []value) value {
	if !in.truthy(args[0]) {
		return in.vm.throw("TypeError", "updateDisplay needs the id of a display")
	}
	return in.showBundle(args[1], args[2], func(o *codeinterp.Output) bool {
		o.Update = true
		return in.displayID(o, args[0])
	})
}

// clearOutput is clearOutput(wait) or clearOutput({wait}).
func (in *instance) clearOutput(_ value, args []value) value {
	wait := in.vm.dup(args[0])
	if isObject(wait) {
		if w := in.vm.get(wait, "wait"); !isNullish(w) {
			in.vm.free(wait)
			wait = w
		}
	}
	defer in.vm.free(wait)
	if isException(wait) {
		return wait
	}
	in.show(codeinterp.Output{Kind: codeinterp.Clear, Wait: isTrue(wait)})
	return in.resume(undefined)
}

// showBundle shows data of a MIME type, or what else mime is, with what options adds.
func (in *instance) showBundle(mime, data value, options func(*codeinterp.Output) bool) value {
	b := bundle{in: in}
	defer b.free()
	o := codeinterp.Output{Kind: codeinterp.Display}
	if !b.choose(mime, data) || !options(&o) || !b.read() || !b.encode(&o) {
		return exception
	}
	codeinterp.SortBundle(o.Bundle)
	in.show(o)
	return in.resume(undefined)
}

// displayOptions takes over {id, update, metadata}; of other values nothing.
func (in *instance) displayOptions(o *codeinterp.Output, options value) bool {
	if isNullish(options) {
		return true
	}
	vm := in.vm
	var list [3]value
	for i, name := range [...]string{"id", "update", "metadata"} {
		if list[i] = vm.get(options, name); isException(list[i]) {
			return false
		}
		defer vm.free(list[i])
	}
	o.Update = isTrue(list[1]) && in.truthy(list[0])
	var metadata []byte
	if isObject(list[2]) {
		var ok bool
		if metadata, ok = in.stringified("metadata", list[2]); !ok {
			return false
		}
	}
	if !isUndefined(list[0]) && !in.displayID(o, list[0]) {
		return false
	}
	if len(metadata) > maxMetadata {
		return in.deny("RangeError", "metadata of more than "+strconv.Itoa(maxMetadata)+" bytes")
	}
	if len(metadata) > 0 && metadata[0] == '{' { // of an Output it is an object
		o.Metadata = metadata
	}
	return true
}

func (in *instance) displayID(o *codeinterp.Output, v value) bool {
	id, lost, ok := in.vm.clipped(v, maxID)
	if !ok {
		return false
	}
	if lost > 0 {
		return in.deny("RangeError", "a display id of more than "+strconv.Itoa(maxID)+" bytes")
	}
	o.DisplayID = id
	return true
}

// deny throws an error, unless the program has to end.
func (in *instance) deny(class, message string) bool {
	if !isException(in.resume(undefined)) {
		in.vm.throw(class, message)
	}
	return false
}

func isTrue(v value) bool { return tag(v) == lib.EJS_TAG_BOOL && intOf(v) != 0 }

func isNullish(v value) bool { return isUndefined(v) || tag(v) == lib.EJS_TAG_NULL }

func (in *instance) truthy(v value) bool { return lib.XJS_ToBool(in.vm.tls, in.vm.ctx, v) != 0 }
