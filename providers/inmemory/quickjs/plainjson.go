//go:build !(386 || arm || s390x)

package quickjs

import (
	"strconv"
	"unicode/utf8"
	"unsafe"

	lib "modernc.org/libquickjs"
)

const (
	// maxPlain bounds the text of plainJSON: an object may be in others many times.
	maxPlain = 64 << 10

	maxPlainDepth = 8
)

// plainJSON appends what JSON.stringify makes of v. ok is false where v is not
// made of objects, whole numbers, texts, booleans and null alone, such as where
// code of the program's could have a say: then the engine's own has to be asked,
// which takes ten times as long.
func (vm *vm) plainJSON(b []byte, v value, depth int) (_ []byte, ok bool) {
	switch tag(v) {
	case lib.EJS_TAG_INT:
		return strconv.AppendInt(b, int64(intOf(v)), 10), true
	case lib.EJS_TAG_BOOL:
		return strconv.AppendBool(b, intOf(v) != 0), true
	case lib.EJS_TAG_NULL:
		return append(b, "null"...), true
	case lib.EJS_TAG_STRING:
		return appendPlain(b, ptr(v))
	case lib.EJS_TAG_OBJECT:
		if depth < maxPlainDepth && vm.isPlain(v) {
			return vm.plainObject(b, v, depth)
		}
	}
	return b, false
}

// isPlain reports whether an object is one of {}, and no toJSON is inherited.
func (vm *vm) isPlain(v value) bool {
	proto := *at[value](at[lib.TJSContext](vm.ctx).Fclass_proto + lib.EJS_CLASS_OBJECT*jsValueSize)
	if classOf(v) != lib.EJS_CLASS_OBJECT || !isObject(proto) || at[lib.TJSShape](at[lib.TJSObject](ptr(v)).Fshape).Fproto != ptr(proto) {
		return false
	}
	p, _ := findProperty(proto, lib.EJS_ATOM_toJSON)
	return p == nil
}

func (vm *vm) plainObject(b []byte, v value, depth int) (_ []byte, ok bool) {
	const plain = (lib.MJS_PROP_TMASK | lib.MJS_PROP_ENUMERABLE) << propFlags
	obj := at[lib.TJSObject](ptr(v))
	shape := at[lib.TJSShape](obj.Fshape)
	props, n := shapeProperties(obj.Fshape), int(shape.Fprop_count)
	held := values(obj.Fprop, n)
	b = append(b, '{')
	for i := range n {
		p := at[lib.TJSShapeProperty](props + uintptr(i)*unsafe.Sizeof(lib.TJSShapeProperty{}))
		if p.Fatom == 0 {
			continue // deleted
		}
		if p.F__ccgo0&plain != lib.MJS_PROP_ENUMERABLE<<propFlags || p.Fatom == lib.EJS_ATOM_toJSON {
			return b, false
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		if b, ok = vm.plainKey(b, p.Fatom); !ok {
			return b, false
		}
		if b, ok = vm.plainJSON(append(b, ':'), held[i], depth+1); !ok || len(b) > maxPlain {
			return b, false
		}
	}
	return append(b, '}'), true
}

// plainKey appends a property's name, unless it is a symbol or may be an index:
// those come first in the text.
func (vm *vm) plainKey(b []byte, atom lib.TJSAtom) (_ []byte, ok bool) {
	// Of an atom with this bit the rest is a number.
	if atom&(1<<31) != 0 {
		return b, false
	}
	addr := *at[uintptr](at[lib.TJSRuntime](vm.rt).Fatom_array + uintptr(atom)*unsafe.Sizeof(uintptr(0)))
	if at[lib.TJSString](addr).F__ccgo4>>30 != lib.EJS_ATOM_TYPE_STRING {
		return b, false
	}
	from := len(b)
	b, ok = appendPlain(b, addr)
	return b, ok && (b[from+1] < '0' || b[from+1] > '9')
}

// appendPlain appends a string as JSON, unless it has characters beyond U+00FF.
func appendPlain(b []byte, addr uintptr) (_ []byte, ok bool) {
	head := at[lib.TJSString](addr)
	n := int(head.F__ccgo0 & 0x7FFFFFFF)
	if head.F__ccgo0>>31 != 0 || n > maxPlain-len(b) {
		return b, false
	}
	b = append(b, '"')
	text := addr + unsafe.Sizeof(*head)
	for i := range n {
		switch c := *at[byte](text + uintptr(i)); {
		case c >= utf8.RuneSelf:
			b = utf8.AppendRune(b, rune(c))
		case c >= ' ' && c != '"' && c != '\\':
			b = append(b, c)
		default:
			b = appendEscape(b, c)
		}
	}
	return append(b, '"'), true
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
