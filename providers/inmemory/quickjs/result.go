//go:build !(386 || arm || s390x)

package quickjs

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

// maxValue bounds a value's JSON text, as the driver does for objects.
const maxValue = 1 << 20

// A last is the last expression of a program in progress: in.last is it, or,
// with boxed, the promise of a box with it. output is what it was as soon as
// that was known: what the program started may change it later, or fail.
type last struct {
	value  value
	boxed  bool
	caught bool // a handler took what the program threw instead
	output *codeinterp.Output
}

// take looks whether the last expression is known now.
func (in *instance) take() {
	vm, l := in.vm, &in.last
	v := vm.dup(l.value)
	if l.boxed {
		box := vm.fulfilled(v)
		if v = undefined; isObject(box) {
			v = vm.get(box, "value")
		}
		vm.free(box)
	}
	if classOf(v) == lib.EJS_CLASS_PROMISE {
		v = vm.fulfilled(v)
	}
	if isUndefined(v) {
		return
	}
	l.output = in.result(v)
	vm.free(v)
	l.value, l.boxed = undefined, false
}

// fulfilled frees a promise and returns what it was fulfilled with, undefined
// where it was not.
func (vm *vm) fulfilled(promise value) value {
	v := undefined
	if lib.XJS_PromiseState(vm.tls, vm.ctx, promise) == lib.EJS_PROMISE_FULFILLED {
		v = lib.XJS_PromiseResult(vm.tls, vm.ctx, promise)
	}
	vm.free(promise)
	return v
}

// withValue adds the last expression to the outcome of a program that ended by
// itself.
func (in *instance) withValue(out engine.Outcome) engine.Outcome {
	if !out.Stopped && !out.Lost {
		out.Value = in.last.output
	}
	return out
}

// result returns the output for the value of the last expression, nil for
// undefined. An exception that inspecting it throws is dropped: the value then
// has no form to be shown in.
func (in *instance) result(v value) *codeinterp.Output {
	vm := in.vm
	if isUndefined(v) {
		return nil
	}
	text, faithful := in.primitiveResult(v)
	if text == nil {
		s, ok := in.inspect(v)
		if !ok {
			vm.dropException()
			s = "[a value that cannot be shown]"
		}
		text = []byte(s)
		if isObject(v) {
			faithful = in.json(v)
		}
	}
	return &codeinterp.Output{Kind: codeinterp.Value, Value: faithful,
		Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: text}}}
}

// primitiveResult returns text and JSON for values that need no driver.
func (in *instance) primitiveResult(v value) (text []byte, faithful json.RawMessage) {
	s, ok := in.primitive(v, false)
	switch {
	case !ok && isString(v):
		in.vm.dropException()
		return []byte("[a string that cannot be shown]"), nil
	case !ok && tag(v) == lib.EJS_TAG_FLOAT64:
		if s, ok = in.vm.text(v); !ok {
			in.vm.dropException()
			return nil, nil
		}
		f, _ := number(v)
		if f == 0 {
			return []byte("-0"), nil
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return []byte(s), nil
		}
	case !ok:
		return nil, nil
	case isString(v):
		if !in.vm.wellFormed(v, s) {
			return []byte(s), nil
		}
		if text := quoteJSON(s); len(text) <= maxValue {
			return []byte(s), text
		}
		return []byte(s), nil
	}
	return []byte(s), json.RawMessage(s)
}

// wellFormed reports whether a string, whose text is s, has no lone
// surrogates.
func (vm *vm) wellFormed(v value, s string) bool {
	if !strings.Contains(s, "\uFFFD") {
		return true
	}
	p := lib.XJS_ToCStringLen2(vm.tls, vm.ctx, vm.scratch, v, 0)
	if p == 0 {
		vm.dropException()
		return false
	}
	defer lib.XJS_FreeCString(vm.tls, vm.ctx, p)
	return surrogate(span{p, int(*at[lib.Tsize_t](vm.scratch))}.text(), 0) < 0
}

// json returns the JSON form of an object, nil where it has none that says
// the same.
func (in *instance) json(v value) json.RawMessage {
	vm := in.vm
	objects, arrays := lib.XJS_GetClassProto(vm.tls, vm.ctx, lib.EJS_CLASS_OBJECT), lib.XJS_GetClassProto(vm.tls, vm.ctx, lib.EJS_CLASS_ARRAY)
	s, ok, thrown := in.driverCall("json", v, objects, arrays)
	vm.free(objects)
	vm.free(arrays)
	if thrown {
		vm.dropException()
	}
	if !ok || s == "" || !json.Valid([]byte(s)) {
		return nil
	}
	return json.RawMessage(s)
}

// quoteJSON returns the JSON form of a well-formed string.
func quoteJSON(s string) json.RawMessage {
	const hex = "0123456789abcdef"
	b := append(make([]byte, 0, len(s)+len(s)/16+16), '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[done:]...), '"')
}
