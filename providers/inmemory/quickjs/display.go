//go:build !(386 || arm || s390x)

package quickjs

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/mimedata"
	lib "modernc.org/libquickjs"
)

// maxBundle bounds the representations of a display, as in package subprocess.
const maxBundle = 64

// display is display(mime, data, {id, update, metadata}) or display(bundle, options).
func (in *instance) display(_ value, args []value) value {
	return in.showBundle(args[0], args[1], args[2], "")
}

// updateDisplay is updateDisplay(id, mime, data) or updateDisplay(id, bundle).
func (in *instance) updateDisplay(_ value, args []value) value {
	id, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	if id == "" {
		return in.vm.throw("TypeError", "updateDisplay needs the id of a display")
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
	if isObject(mime) && classOf(mime) == lib.EJS_CLASS_OBJECT {
		if !isUndefined(data) {
			options = data
		}
		if !in.addAll(&o, mime) {
			return exception
		}
	} else {
		name, ok := vm.text(mime)
		if !ok {
			return exception
		}
		if !in.addRepresentation(&o, name, data) {
			return exception
		}
	}
	if isObject(options) {
		if id := vm.ownString(options, "id"); id != "" && update == "" {
			o.DisplayID, o.Update = id, vm.ownTrue(options, "update")
		}
		metadata := vm.own(options, "metadata")
		if isObject(metadata) {
			o.Metadata = in.json(metadata)
		}
		vm.free(metadata)
	}
	codeinterp.SortBundle(o.Bundle)
	in.show(o)
	return in.resume(undefined)
}

func isTrue(v value) bool { return tag(v) == lib.EJS_TAG_BOOL && intOf(v) != 0 }

// ownTrue reports whether a data property of obj is true.
func (vm *vm) ownTrue(obj value, name string) bool {
	v := vm.own(obj, name)
	defer vm.free(v)
	return isTrue(v)
}

// addAll adds the properties of a bundle.
func (in *instance) addAll(o *codeinterp.Output, bundle value) bool {
	names, ok := in.vm.keys(bundle)
	if !ok {
		return false
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
	if len(o.Bundle) == 0 {
		in.vm.throw("TypeError", "display needs a MIME type and data, or an object of them")
		return false
	}
	return true
}

func (in *instance) addRepresentation(o *codeinterp.Output, mime string, v value) bool {
	vm := in.vm
	if base, sub, ok := strings.Cut(mime, "/"); !ok || base == "" || sub == "" || len(mime) > 256 || strings.ContainsAny(mime, " \t\r\n\x00") && !strings.Contains(mime, ";") {
		vm.throw("TypeError", "display: not a MIME type: "+clip(mime, 100))
		return false
	}
	data, ok := vm.bytes(v)
	switch {
	case ok:
	case codeinterp.IsJSON(mime):
		data, ok = in.jsonData(v)
	case isObject(v) || isUndefined(v):
		vm.throw("TypeError", "display: the data of "+mime+" must be a string or a Uint8Array")
		return false
	default:
		var s string
		if s, ok = vm.text(v); !ok {
			return false
		}
		data, ok = mimedata.OfString(mime, s)
	}
	if ok && codeinterp.IsText(mime) && !utf8.Valid(data) || codeinterp.IsJSON(mime) && !json.Valid(data) {
		ok = false
	}
	if !ok {
		vm.throw("TypeError", "display: the data does not fit "+mime+"; use a Uint8Array or base64 for binary types, UTF-8 for text, plain data for JSON types")
		return false
	}
	o.Bundle = append(o.Bundle, codeinterp.Representation{MIME: mime, Data: data})
	return in.fits(o.Size())
}

// jsonData returns the JSON text that v is, or has.
func (in *instance) jsonData(v value) ([]byte, bool) {
	if isObject(v) {
		b := in.json(v)
		return b, b != nil
	}
	text, faithful := in.primitiveResult(v)
	if isString(v) && json.Valid(text) {
		return text, true
	}
	return faithful, faithful != nil && !isUndefined(v)
}

// keys returns the names of an object's own enumerable properties.
func (vm *vm) keys(obj value) ([]string, bool) {
	return vm.ownNames(obj, lib.MJS_GPN_STRING_MASK|lib.MJS_GPN_ENUM_ONLY)
}

// ownNames returns the names of an object's own properties of a kind.
func (vm *vm) ownNames(obj value, kind int32) ([]string, bool) {
	tab, n := vm.tls.Alloc(16), uintptr(0)
	defer vm.tls.Free(16)
	if lib.XJS_GetOwnPropertyNames(vm.tls, vm.ctx, tab, tab+8, obj, kind) < 0 {
		return nil, false
	}
	list := *at[uintptr](tab)
	n = uintptr(*at[uint32](tab + 8))
	var names []string
	for i := range n {
		atom := at[lib.TJSPropertyEnum](list + i*unsafe.Sizeof(lib.TJSPropertyEnum{})).Fatom
		v := lib.XJS_AtomToValue(vm.tls, vm.ctx, atom)
		if s, ok := vm.text(v); ok {
			names = append(names, s)
		}
		vm.free(v)
	}
	lib.XJS_FreePropertyEnum(vm.tls, vm.ctx, list, uint32(n))
	return names, true
}
