package quickjs

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

// maxValue bounds a value's JSON text, as the driver does for objects.
const maxValue = 1 << 20

// A last is the last expression of a program in progress: in.last is it, or,
// with boxed, the promise of a box with it; with promised it is a promise that is
// waited for in place of the program. output is what it was as soon as
// that was known: what the program started may change it later, or fail.
type last struct {
	value  value
	boxed  bool
	caught bool // a handler took what the program threw instead
	output *codeinterp.Output

	promised bool
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
	mark := vm.borrowed
	l.output = in.result(v)
	vm.giveBack(mark)
	vm.free(v)
	l.value, l.boxed = undefined, false
}

// remember puts the value of a context's program into _, where later programs find it,
// unless they have a _ of their own.
func (in *instance) remember(v value) {
	vm := in.vm
	if in.program.Last || isUndefined(v) || vm.stopping.Load() {
		return
	}
	global := at[lib.TJSContext](vm.ctx).Fglobal_obj
	const plain = lib.MJS_PROP_WRITABLE | lib.MJS_PROP_CONFIGURABLE
	// Most contexts have none but the one of the run before.
	if p, slot := findProperty(global, in.lastAtom); p != nil && p.F__ccgo0>>propFlags == plain|lib.MJS_PROP_VARREF {
		if shown := at[value](at[lib.TJSVarRef](*slot).Fpvalue); *shown == in.shown {
			old := in.shown
			*shown, in.shown = vm.dup(v), vm.dup(v)
			vm.free(old)
			vm.free(old)
			return
		}
	}
	now, flags, there := vm.property(global, "_")
	vm.free(now)
	if there && (flags&lib.MJS_PROP_GETSET != 0 || now != in.shown) {
		return
	}
	vm.set(global, "_", vm.dup(v), plain)
	vm.free(in.shown)
	in.shown = vm.dup(v)
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

// withValue adds the last expression to the outcome of a program, also where what it
// left pending was stopped.
func (in *instance) withValue(out engine.Outcome) engine.Outcome {
	if !out.Lost {
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
		var ok bool
		if text, ok = in.inspect(v); !ok {
			vm.dropException()
			text = []byte("[a value that cannot be shown]")
		}
		if isObject(v) {
			faithful = in.json(v)
		}
	}
	shown := &struct { // at once, as most runs have a value
		output codeinterp.Output
		text   [1]codeinterp.Representation
	}{codeinterp.Output{Kind: codeinterp.Value, Value: faithful}, [1]codeinterp.Representation{{MIME: "text/plain", Data: text}}}
	shown.output.Bundle = shown.text[:]
	return &shown.output
}

// primitiveResult returns text and JSON for values that need no driver.
func (in *instance) primitiveResult(v value) (text []byte, faithful json.RawMessage) {
	vm := in.vm
	if isString(v) {
		text, exact, ok := vm.textBytes(v, 0)
		switch {
		case !ok:
			vm.dropException()
			return []byte("[a string that cannot be shown]"), nil
		case exact:
			faithful = quoteJSON(text, maxValue)
		}
		return text, faithful
	}
	s, ok := in.primitive(v)
	if !ok && tag(v) == lib.EJS_TAG_FLOAT64 {
		f, _ := number(v)
		s, ok = numberText(f), true
		// JSON has no negative zero that all readers keep.
		if f == 0 {
			return []byte("-0"), nil
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return []byte(s), nil
		}
	}
	if !ok {
		return nil, nil
	}
	return []byte(s), json.RawMessage(s)
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
	if !ok || len(s) == 0 || !json.Valid(s) {
		return nil
	}
	return s
}

// quoteJSON returns the JSON form of text, nil where it is longer than most.
func quoteJSON(text []byte, most int) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if len(text) > most || e.Encode(string(text)) != nil || b.Len() > most+1 {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
