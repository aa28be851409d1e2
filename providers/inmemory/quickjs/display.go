//go:build !(386 || arm || s390x)

package quickjs

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/mimedata"
	lib "modernc.org/libquickjs"
)

// These bound a display as package subprocess does: its representations, the bytes
// of its id and metadata, and those of a MIME type.
const (
	maxBundle   = 64
	maxID       = 1 << 10
	maxMIME     = 256
	maxMetadata = 64 << 10
)

// display is display(mime, data, {id, update, metadata}), display(bundle, options), or
// display(value, options) for any other value, as text.
func (in *instance) display(_ value, args []value) value {
	return in.showBundle(args[0], args[1], args[2], "")
}

// updateDisplay is updateDisplay(id, mime, data), updateDisplay(id, bundle) or
// updateDisplay(id, value).
func (in *instance) updateDisplay(_ value, args []value) value {
	id, lost, ok := in.vm.clipped(args[0], maxID)
	if !ok {
		return exception
	}
	if id == "" || isUndefined(args[0]) {
		return in.vm.throw("TypeError", "updateDisplay needs the id of a display")
	}
	if lost > 0 {
		return in.longID()
	}
	data := undefined
	if len(args) > 2 {
		data = args[2]
	}
	return in.showBundle(args[1], data, undefined, id)
}

// clearOutput is clearOutput(wait) or clearOutput({wait}).
func (in *instance) clearOutput(_ value, args []value) value {
	wait := isTrue(args[0]) || isObject(args[0]) && in.vm.ownTrue(args[0], "wait")
	in.show(codeinterp.Output{Kind: codeinterp.Clear, Wait: wait})
	return in.resume(undefined)
}

func (in *instance) showBundle(mime, data, options value, update string) value {
	vm := in.vm
	o := codeinterp.Output{Kind: codeinterp.Display, DisplayID: update, Update: update != ""}
	if isString(mime) && !isUndefined(data) {
		// More than there may be, so that one that is too long is seen as such.
		name, _, ok := vm.clipped(mime, 2*maxMIME)
		if !ok || !in.addRepresentation(&o, name, data) {
			return exception
		}
	} else {
		if !in.addAll(&o, mime) {
			return exception
		}
		if isUndefined(options) {
			options = data
		}
	}
	if isObject(options) {
		id, lost := vm.ownClipped(options, "id", maxID)
		if lost > 0 {
			return in.longID()
		}
		if id != "" && update == "" {
			o.DisplayID, o.Update = id, vm.ownTrue(options, "update")
		}
		if !in.addMetadata(&o, options) {
			return exception
		}
	}
	codeinterp.SortBundle(o.Bundle)
	in.show(o)
	return in.resume(undefined)
}

// addMetadata adds what JSON.stringify makes of the options' metadata, where that is an
// object.
func (in *instance) addMetadata(o *codeinterp.Output, options value) bool {
	metadata := in.vm.own(options, "metadata")
	defer in.vm.free(metadata)
	if !isObject(metadata) {
		return true
	}
	data, ok := in.jsonData(metadata)
	switch {
	case !ok && isException(in.resume(undefined)):
		return false
	case !ok:
		in.vm.throw("TypeError", "display: the metadata is no JSON")
		return false
	case len(data) > maxMetadata:
		in.vm.throw("RangeError", "metadata of more than "+strconv.Itoa(maxMetadata)+" bytes")
		return false
	}
	o.Metadata = data
	return true
}

func (in *instance) longID() value {
	return in.vm.throw("RangeError", "the id of a display is longer than "+strconv.Itoa(maxID)+" bytes")
}

func isTrue(v value) bool { return tag(v) == lib.EJS_TAG_BOOL && intOf(v) != 0 }

// ownTrue reports whether a data property of obj is true.
func (vm *vm) ownTrue(obj value, name string) bool {
	v := vm.own(obj, name)
	defer vm.free(v)
	return isTrue(v)
}

// addAll adds the properties of a bundle, or what else a value is as text.
func (in *instance) addAll(o *codeinterp.Output, bundle value) bool {
	// One more than there may be, to see that there are too many.
	var names []string
	if isObject(bundle) && classOf(bundle) == lib.EJS_CLASS_OBJECT {
		var ok bool
		if names, ok = in.vm.keys(bundle, maxBundle+1); !ok {
			return false
		}
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !isMIME(name) }) {
		return in.addText(o, bundle)
	}
	if len(names) > maxBundle {
		in.vm.throw("RangeError", "more than "+strconv.Itoa(maxBundle)+" representations")
		return false
	}
	for _, name := range names {
		v := in.vm.own(bundle, name)
		ok := in.addRepresentation(o, name, v)
		in.vm.free(v)
		if !ok {
			return false
		}
	}
	return true
}

// addText adds what a value is inspected as; a string is its own text.
func (in *instance) addText(o *codeinterp.Output, v value) bool {
	text, ok := []byte(nil), false
	if isString(v) {
		text, _, ok = in.vm.textBytes(v, 0)
	} else {
		text, ok = in.inspect(v)
	}
	if ok {
		o.Bundle = []codeinterp.Representation{{MIME: "text/plain", Data: text}}
	}
	return ok
}

func isMIME(s string) bool {
	base, sub, ok := strings.Cut(s, "/")
	return ok && base != "" && sub != "" && (strings.Contains(s, ";") || !strings.ContainsAny(s, " \t\r\n\x00"))
}

func (in *instance) addRepresentation(o *codeinterp.Output, mime string, v value) bool {
	vm := in.vm
	if !isMIME(mime) {
		vm.throw("TypeError", "display: not a MIME type: "+clip(mime, 100))
		return false
	}
	if len(mime) > maxMIME {
		vm.throw("RangeError", "a MIME type has 1 to "+strconv.Itoa(maxMIME)+" bytes")
		return false
	}
	data, ok := in.dataOf(mime, v)
	if !ok {
		return false
	}
	if codeinterp.IsText(mime) && !in.isUTF8(data) || codeinterp.IsJSON(mime) && !in.isJSON(data) {
		return in.unfit(mime)
	}
	o.Bundle = append(o.Bundle, codeinterp.Representation{MIME: mime, Data: data})
	return true
}

// unfit has an exception pending: the data of a display is not of its type.
func (in *instance) unfit(mime string) bool {
	if isException(in.resume(undefined)) { // it may be that it was not looked at
		return false
	}
	in.vm.throw("TypeError", "display: the data does not fit "+mime+"; use a Uint8Array or base64 for binary types, UTF-8 for text, plain data for JSON types")
	return false
}

// dataOf returns the bytes that a program gave for a MIME type; ok is false where
// an exception is pending.
func (in *instance) dataOf(mime string, v value) (data []byte, ok bool) {
	vm := in.vm
	if s, ok := vm.span(v); ok {
		return vm.copied(s)
	}
	switch {
	case codeinterp.IsJSON(mime):
		if data, ok = in.jsonData(v); !ok {
			return nil, in.unfit(mime)
		}
		return data, true
	case isObject(v) || isUndefined(v):
		vm.throw("TypeError", "display: the data of "+mime+" must be a string or a Uint8Array")
		return nil, false
	}
	s, ok := vm.text(v)
	if !ok || !codeinterp.IsText(mime) && !vm.borrow(len(s)*7/4) { // what unpacking it takes
		return nil, false
	}
	if data, ok = mimedata.OfString(mime, s); !ok {
		return nil, in.unfit(mime)
	}
	return data, true
}

// jsonData returns the JSON text that v is, or that JSON.stringify makes of it.
func (in *instance) jsonData(v value) ([]byte, bool) {
	if isString(v) {
		text, faithful := in.primitiveResult(v)
		if in.isJSON(text) {
			return text, true
		}
		return faithful, faithful != nil
	}
	if isObject(v) {
		if b := in.json(v); b != nil {
			return b, true
		}
	}
	s := lib.XJS_JSONStringify(in.vm.tls, in.vm.ctx, v, undefined, undefined)
	defer in.vm.free(s)
	if !isString(s) {
		in.vm.dropException()
		return nil, false
	}
	text, _, ok := in.vm.textBytes(s, 0)
	return text, ok
}

// isUTF8 reports whether bytes are UTF-8.
func (in *instance) isUTF8(b []byte) bool {
	ok, left := true, 0 // bytes before from that the last rune of the part before has
	return in.vm.inPieces(len(b), func(from, to int) {
		from = min(from+left, to)
		left = 0
		for back := 1; to < len(b) && back < utf8.UTFMax && back <= to-from; back++ {
			if utf8.RuneStart(b[to-back]) {
				if _, n := utf8.DecodeRune(b[to-back:]); n > back {
					left = n - back
					to += left
				}
				break
			}
		}
		ok = ok && utf8.Valid(b[from:to])
	}) && ok
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
