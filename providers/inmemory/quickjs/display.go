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
	o := codeinterp.Output{Kind: codeinterp.Display}
	if !in.displayOptions(&o, options) {
		return exception
	}
	return in.showBundle(o, mime, data)
}

// updateDisplay is updateDisplay(id, mime, data), updateDisplay(id, bundle) or
// updateDisplay(id, value).
func (in *instance) updateDisplay(_ value, args []value) value {
	if lib.XJS_ToBool(in.vm.tls, in.vm.ctx, args[0]) == 0 {
		return in.vm.throw("TypeError", "updateDisplay needs the id of a display")
	}
	o := codeinterp.Output{Kind: codeinterp.Display, Update: true}
	if !in.displayID(&o, args[0]) {
		return exception
	}
	return in.showBundle(o, args[1], args[2])
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
	o.Update = isTrue(list[1]) && lib.XJS_ToBool(vm.tls, vm.ctx, list[0]) != 0
	if !isUndefined(list[0]) && !in.displayID(o, list[0]) {
		return false
	}
	if !isObject(list[2]) {
		return true
	}
	metadata, ok := in.stringified("metadata", list[2])
	if len(metadata) > maxMetadata {
		return in.deny("RangeError", "metadata of more than "+strconv.Itoa(maxMetadata)+" bytes")
	}
	if ok && metadata[0] == '{' { // of an Output it is an object
		o.Metadata = metadata
	}
	return ok
}

func (in *instance) displayID(o *codeinterp.Output, v value) bool {
	id, lost, ok := in.vm.clipped(v, maxID)
	if lost > 0 {
		return in.deny("RangeError", "a display id of more than "+strconv.Itoa(maxID)+" bytes")
	}
	o.DisplayID = id
	return ok
}

// showBundle shows data of a MIME type, or what else mime is.
func (in *instance) showBundle(o codeinterp.Output, mime, data value) value {
	vm := in.vm
	if isString(mime) && !isUndefined(data) {
		// More than there may be, so that one that is too long is seen as such.
		name, _, ok := vm.clipped(mime, 2*maxMIME)
		if ok && !isMIME(name) {
			ok = in.deny("TypeError", "not a MIME type: "+clip(name, 100))
		}
		if !ok || !in.represent(&o, name, data) {
			return exception
		}
	} else if names, is, ok := in.bundleNames(mime); !ok {
		return exception
	} else if !is {
		text, ok := in.plainText(mime)
		if !ok {
			return exception
		}
		o.Bundle = []codeinterp.Representation{{MIME: "text/plain", Data: text}}
	} else {
		for _, name := range names {
			v := vm.own(mime, name)
			ok := in.represent(&o, name, v)
			if vm.free(v); !ok {
				return exception
			}
		}
	}
	codeinterp.SortBundle(o.Bundle)
	in.show(o)
	return in.resume(undefined)
}

// plainText is how a value that is no bundle is shown.
func (in *instance) plainText(v value) ([]byte, bool) {
	if isString(v) {
		text, _, ok := in.vm.textBytes(v, 0)
		return text, ok
	}
	return in.inspect(v)
}

// bundleNames returns the MIME types of an object of representations, if a value is one;
// ok is false where an exception is pending.
func (in *instance) bundleNames(v value) (names []string, is, ok bool) {
	if classOf(v) != lib.EJS_CLASS_OBJECT {
		return nil, false, true
	}
	// One more than there may be, to see that there are too many.
	names, ok = in.vm.keys(v, maxBundle+1)
	if !ok || len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !isMIME(name) }) {
		return nil, false, ok
	}
	if len(names) > maxBundle {
		return nil, false, in.deny("RangeError", "more than "+strconv.Itoa(maxBundle)+" representations")
	}
	return names, true, true
}

func isMIME(s string) bool {
	base, sub, ok := strings.Cut(s, "/")
	return ok && base != "" && sub != "" && (strings.Contains(s, ";") || !strings.ContainsAny(s, " \t\r\n\x00"))
}

// represent adds a representation to an output; an exception is pending where it returns
// false.
func (in *instance) represent(o *codeinterp.Output, mime string, v value) bool {
	if len(mime) > maxMIME {
		return in.deny("RangeError", "a MIME type has 1 to "+strconv.Itoa(maxMIME)+" bytes")
	}
	data, ok := in.representation(mime, v)
	if ok {
		o.Bundle = append(o.Bundle, codeinterp.Representation{MIME: mime, Data: data})
	}
	return ok
}

// representation returns the bytes that a program gave for a MIME type.
func (in *instance) representation(mime string, v value) (data []byte, ok bool) {
	vm := in.vm
	if codeinterp.IsJSON(mime) {
		return in.jsonOf(mime, v)
	}
	if s, ok := vm.span(v); ok {
		data, ok = vm.copied(s)
		if ok && codeinterp.IsText(mime) && !utf8.Valid(data) {
			ok = in.deny("TypeError", mime+" data is not UTF-8")
		}
		return data, ok
	}
	if isObject(v) || isUndefined(v) {
		return nil, in.deny("TypeError", mime+" data is neither a string nor bytes")
	}
	s, ok := vm.text(v)
	if !ok || !codeinterp.IsText(mime) && !vm.borrow(len(s)*7/4) { // what unpacking it takes
		return nil, false
	}
	if data, ok = mimedata.OfString(mime, s); !ok {
		in.deny("TypeError", mime+" data is neither bytes nor base64")
	}
	return data, ok
}

// jsonOf returns the JSON text that a value is, as a string or as bytes, or that
// JSON.stringify makes of it.
func (in *instance) jsonOf(mime string, v value) (text []byte, ok bool) {
	isBytes := classOf(v) == lib.EJS_CLASS_UINT8_ARRAY
	if isBytes || isString(v) {
		if text, ok = in.vm.bytesOf(v); !ok {
			return nil, false
		}
		if text = bytes.ToValidUTF8(text, []byte("\uFFFD")); json.Valid(text) {
			return text, true
		}
		if isBytes {
			return nil, in.deny("SyntaxError", mime+" data is no JSON")
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
		return nil, in.deny("TypeError", what+" has no form in JSON")
	}
	text, _, ok = vm.textBytes(s, 0)
	return text, ok
}

// deny throws an error, unless the program has to end. It returns false.
func (in *instance) deny(class, message string) bool {
	if !isException(in.resume(undefined)) {
		in.vm.throw(class, message)
	}
	return false
}

func isTrue(v value) bool { return tag(v) == lib.EJS_TAG_BOOL && intOf(v) != 0 }

func isNullish(v value) bool { return isUndefined(v) || tag(v) == lib.EJS_TAG_NULL }
