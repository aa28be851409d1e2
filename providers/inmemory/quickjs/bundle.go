package quickjs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/mimedata"
	lib "modernc.org/libquickjs"
)

// A bundle is what a program displays, as it is read and encoded.
type bundle struct {
	in     *instance
	of     value    // the object that has the representations, if they are not read yet
	names  []string // MIME types
	values []value
	text   []byte // of what is no bundle
}

func (b *bundle) free() {
	b.in.vm.free(b.of)
	for _, v := range b.values {
		b.in.vm.free(v)
	}
}

// choose finds out what is displayed: data of a MIME type, a bundle, or any other value.
func (b *bundle) choose(mime, data value) bool {
	vm := b.in.vm
	b.of = undefined
	if isString(mime) && !isUndefined(data) {
		// More than there may be, so that one that is too long is seen as such.
		name, _, ok := vm.clipped(mime, 2*maxMIME)
		if !ok {
			return false
		}
		if !isMIME(name) {
			return b.in.deny("TypeError", "not a MIME type: "+clip(name, 100))
		}
		b.names, b.values = []string{name}, []value{vm.dup(data)}
		return true
	}
	is, ok := b.in.isBundle(mime)
	switch {
	case !ok:
		return false
	case is:
		b.of = vm.dup(mime)
	case isString(mime):
		b.text, _, ok = vm.textBytes(mime, 0)
	default:
		b.text, ok = b.in.inspect(mime)
	}
	return ok
}

// isBundle reports whether a value is an object of representations; ok is false where
// an exception is pending.
func (in *instance) isBundle(v value) (is, ok bool) {
	vm := in.vm
	if plain, ok := in.isPlain(v); !plain || !ok {
		return false, ok
	}
	// One more than there may be, to see that there are too many.
	names, ok := vm.keys(v, maxBundle+1)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !isMIME(name) }), ok
}

// isPlain reports whether Object.prototype.toString says "[object Object]" of a value
// that is no proxy.
func (in *instance) isPlain(v value) (plain, ok bool) {
	vm := in.vm
	if !isObject(v) || in.isFunction(v) {
		return false, true
	}
	switch classOf(v) {
	case lib.EJS_CLASS_PROXY, lib.EJS_CLASS_ARRAY, lib.EJS_CLASS_ERROR, lib.EJS_CLASS_BOOLEAN, lib.EJS_CLASS_NUMBER, lib.EJS_CLASS_STRING, lib.EJS_CLASS_DATE,
		lib.EJS_CLASS_REGEXP, lib.EJS_CLASS_ARGUMENTS, lib.EJS_CLASS_MAPPED_ARGUMENTS:
		return false, true
	}
	named := lib.XJS_GetPropertyInternal(vm.tls, vm.ctx, v, lib.EJS_ATOM_Symbol_toStringTag, v, 0)
	defer vm.free(named)
	if isException(named) || !isString(named) {
		return true, !isException(named)
	}
	name, _, ok := vm.clipped(named, maxName)
	return name == "Object", ok
}

// read reads the representations of a bundle.
func (b *bundle) read() bool {
	if !isObject(b.of) {
		return true
	}
	names, ok := b.in.vm.keys(b.of, maxBundle+1)
	if !ok {
		return false
	}
	for _, name := range names {
		b.names, b.values = append(b.names, name), append(b.values, b.in.vm.own(b.of, name))
	}
	if len(names) > maxBundle {
		return b.in.deny("RangeError", "more than "+strconv.Itoa(maxBundle)+" representations")
	}
	return true
}

// encode adds the representations to an output.
func (b *bundle) encode(o *codeinterp.Output) bool {
	if len(b.names) == 0 {
		o.Bundle = []codeinterp.Representation{{MIME: "text/plain", Data: b.text}}
		return true
	}
	for i, name := range b.names {
		if len(name) > maxMIME {
			return b.in.deny("RangeError", "a MIME type has 1 to "+strconv.Itoa(maxMIME)+" bytes")
		}
		data, ok := b.in.representation(name, b.values[i])
		if !ok {
			return false
		}
		o.Bundle = append(o.Bundle, codeinterp.Representation{MIME: name, Data: data})
	}
	return true
}

func isMIME(s string) bool {
	base, sub, ok := strings.Cut(s, "/")
	return ok && base != "" && sub != "" && (strings.Contains(s, ";") || !strings.ContainsAny(s, " \t\r\n\x00"))
}

// representation returns the bytes that a program gave for a MIME type; ok is false
// where an exception is pending.
func (in *instance) representation(mime string, v value) (data []byte, ok bool) {
	vm := in.vm
	if codeinterp.IsJSON(mime) {
		return in.jsonOf(mime, v)
	}
	if s, ok := vm.span(v); ok {
		if data, ok = vm.copied(s); !ok {
			return nil, false
		}
		if codeinterp.IsText(mime) && !utf8.Valid(data) {
			return nil, in.deny("TypeError", mime+" data is not UTF-8")
		}
		return data, true
	}
	if isObject(v) || isUndefined(v) {
		return nil, in.deny("TypeError", mime+" data is "+in.typeOf(v)+", not a string or bytes")
	}
	s, ok := vm.text(v)
	if !ok || !codeinterp.IsText(mime) && !vm.borrow(len(s)*7/4) { // what unpacking it takes
		return nil, false
	}
	if data, ok = mimedata.OfString(mime, s); !ok {
		return nil, in.deny("TypeError", mime+" data is neither bytes nor base64")
	}
	return data, true
}

// typeOf names a value that is no string and has no data.
func (in *instance) typeOf(v value) string {
	switch {
	case isUndefined(v):
		return "undefined"
	case in.isFunction(v):
		return "function"
	case isObject(v):
		return "object"
	}
	return "symbol"
}

// jsonOf returns the JSON text that a value is, as a string or as bytes, or that
// JSON.stringify makes of it.
func (in *instance) jsonOf(mime string, v value) (text []byte, ok bool) {
	vm := in.vm
	if classOf(v) == lib.EJS_CLASS_UINT8_ARRAY {
		if text, ok = vm.bytesOf(v); !ok {
			return nil, false
		}
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
		if json.Valid(text) {
			return text, true
		}
		return nil, in.deny("SyntaxError", mime+" data is no JSON")
	}
	if isString(v) {
		if text, _, ok = vm.textBytes(v, 0); !ok || json.Valid(text) {
			return text, ok
		}
		if isException(in.resume(undefined)) { // it may be that it was not looked at
			return nil, false
		}
	}
	return in.stringified(mime+" data", v)
}

// stringified returns what JSON.stringify makes of a value that what names.
func (in *instance) stringified(what string, v value) (text []byte, ok bool) {
	vm := in.vm
	s := lib.XJS_JSONStringify(vm.tls, vm.ctx, v, undefined, undefined)
	defer vm.free(s)
	switch {
	case isException(s):
		return nil, false
	case !isString(s):
		return nil, in.deny("TypeError", what+" is "+in.typeOf(v)+", which JSON does not have")
	}
	text, _, ok = vm.textBytes(s, 0)
	return text, ok
}
