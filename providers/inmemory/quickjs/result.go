//go:build !(386 || arm || s390x)

package quickjs

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/toolcell/toolcell/codeinterp"
	lib "modernc.org/libquickjs"
)

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
		return []byte(s), quoteJSON(s)
	}
	return []byte(s), json.RawMessage(s)
}

// wellFormed reports whether a string, whose text is s, has no lone
// surrogates.
func (vm *vm) wellFormed(v value, s string) bool {
	if !bytes.Contains([]byte(s), []byte("\uFFFD")) {
		return true
	}
	p := lib.XJS_ToCStringLen2(vm.tls, vm.ctx, vm.scratch, v, 0)
	if p == 0 {
		vm.dropException()
		return false
	}
	defer lib.XJS_FreeCString(vm.tls, vm.ctx, p)
	n := *at[lib.Tsize_t](vm.scratch)
	for i := range uintptr(n) {
		if *at[byte](p + i) == 0xED && *at[byte](p + i + 1) >= 0xA0 {
			return false
		}
	}
	return true
}

// json returns the JSON form of an object, nil where it has none that says
// the same.
func (in *instance) json(v value) json.RawMessage {
	s, ok, thrown := in.driverCall("json", v)
	if thrown {
		in.vm.dropException()
	}
	if !ok || !json.Valid([]byte(s)) {
		return nil
	}
	return json.RawMessage(s)
}

func quoteJSON(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return nil
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
