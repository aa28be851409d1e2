package quickjs

import (
	"bytes"

	lib "modernc.org/libquickjs"
)

// What a call of the host makes of a program's values lies in Go's heap, beside
// the engine's memory. It is borrowed: while the call lasts it counts in the
// budget of all contexts, and it may be as much again as Limits.Memory.

// small is up to what size all that is borrowed does not count, as many other
// little things do not.
const small = 64 << 10

// borrow counts n bytes that a call of the host is about to take. Where there may
// not be as many it returns false, with an exception pending.
func (vm *vm) borrow(n int) bool {
	switch {
	case vm.tryBorrow(n):
		return true
	case vm.borrowed+int64(n) > vm.heap.limit:
		vm.throw("RangeError", "Invalid string length")
	default:
		// For the error's words and Cause: it is all contexts together that have used it up.
		vm.heap.failed, vm.heap.others = true, true
		lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	return false
}

// tryBorrow is borrow without an exception, for what is done to make one.
func (vm *vm) tryBorrow(n int) bool {
	want := vm.borrowed + int64(n)
	if more := want - vm.counted; more > small {
		if want > vm.heap.limit || !vm.heap.budget.Take(more) {
			return false
		}
		vm.counted = want
	}
	vm.borrowed = want
	return true
}

// giveBack ends what was borrowed since mark was vm.borrowed.
func (vm *vm) giveBack(mark int64) {
	vm.borrowed = mark
	if over := vm.counted - mark; over > 0 {
		vm.heap.budget.Give(over)
		vm.counted = mark
	}
}

// A draft is bytes that the host makes of a program's values.
type draft struct {
	vm *vm
	b  []byte
}

// grow makes room for n more bytes; an exception is pending where it returns false.
func (d *draft) grow(n int) bool {
	have, need := cap(d.b), len(d.b)+n
	if need <= have {
		return true
	}
	// Twice as much as far as that may be, as it may grow in small steps.
	most := int64(have) + d.vm.heap.limit - d.vm.borrowed
	size := max(need, int(min(int64(2*have), most)))
	if !d.vm.borrow(size - have) {
		return false
	}
	d.b = append(make([]byte, 0, size), d.b...)
	return true
}

func (d *draft) add(s string) bool {
	if !d.grow(len(s)) {
		return false
	}
	d.b = append(d.b, s...)
	return true
}

// addText adds the text of a value.
func (d *draft) addText(v value) bool {
	vm := d.vm
	text, ok := vm.encoded(v)
	if !ok {
		return false
	}
	ok = d.grow(text.n)
	if ok {
		from := len(d.b)
		d.b = append(d.b, text.raw()...)
		vm.wellFormed(d.b[from:])
	}
	lib.XJS_FreeCString(vm.tls, vm.ctx, text.addr)
	return ok
}

// encoded returns a string, or what v converts to, in the engine's UTF-8. Its
// address is for XJS_FreeCString. Where the conversion throws, ok is false and the
// exception pending.
func (vm *vm) encoded(v value) (text span, ok bool) {
	p := lib.XJS_ToCStringLen2(vm.tls, vm.ctx, vm.scratch, v, 0)
	if p == 0 {
		return span{}, false
	}
	return span{p, int(*at[lib.Tsize_t](vm.scratch))}, true
}

// text returns the string that v is, or converts to; ok is false where that
// throws, or there may be no such copy, and the exception is then pending. Lone
// surrogates become U+FFFD.
func (vm *vm) text(v value) (s string, ok bool) {
	b, _, ok := vm.textBytes(v, 0)
	return asText(b), ok
}

// textBytes is text with room for more bytes, and says whether there were no lone
// surrogates.
func (vm *vm) textBytes(v value, more int) (b []byte, exact, ok bool) {
	text, ok := vm.encoded(v)
	if !ok {
		return nil, false, false
	}
	if ok = vm.borrow(text.n + more); ok {
		b = append(make([]byte, 0, text.n+more), text.raw()...)
	}
	lib.XJS_FreeCString(vm.tls, vm.ctx, text.addr)
	return b, vm.wellFormed(b), ok
}

// clipped returns the first n bytes of a value's text, and how many more there are.
func (vm *vm) clipped(v value, n int) (s string, lost int64, ok bool) {
	text, ok := vm.encoded(v)
	if !ok {
		return "", 0, false
	}
	b := span{text.addr, min(n, text.n)}.bytes()
	lib.XJS_FreeCString(vm.tls, vm.ctx, text.addr)
	vm.wellFormed(b)
	if s = string(b); text.n > n {
		s = clip(s+" ", n)
	}
	return s, int64(text.n - len(b)), true
}

// bytesOf returns a copy of the bytes that v has, or of its text's; where it returns
// false, an exception is pending.
func (vm *vm) bytesOf(v value) ([]byte, bool) {
	if s, ok := vm.span(v); ok {
		return vm.copied(s)
	}
	b, _, ok := vm.textBytes(v, 0)
	return b, ok
}

// copied returns a copy of a span.
func (vm *vm) copied(s span) ([]byte, bool) {
	if !vm.borrow(s.n) {
		return nil, false
	}
	return s.bytes(), true
}

// ownClipped is clipped for an own data property that is a string.
func (vm *vm) ownClipped(obj value, name string, n int) (s string, lost int64) {
	v := vm.own(obj, name)
	defer vm.free(v)
	if !isString(v) {
		return "", 0
	}
	s, lost, ok := vm.clipped(v, n)
	if !ok {
		vm.dropException()
	}
	return s, lost
}

// wellFormed replaces lone surrogates, which the engine writes as the three bytes
// ED A0..BF 80..BF, by U+FFFD, and reports whether there were none. Both have three
// bytes.
func (vm *vm) wellFormed(b []byte) bool {
	exact := true
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], 0xED)
		if n < 0 || i+n+2 >= len(b) {
			return exact
		}
		if i += n; b[i+1] >= 0xA0 {
			copy(b[i:], "\uFFFD")
			exact = false
		}
	}
}
