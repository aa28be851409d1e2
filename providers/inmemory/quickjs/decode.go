//go:build !(386 || arm || s390x)

package quickjs

import (
	"unicode/utf8"

	lib "modernc.org/libquickjs"
)

// hostDecode decodes UTF-8; where the second argument is true it is strict. What is
// broken can become three times as long, so that the text is made where it counts,
// in the engine's memory.
func (in *instance) hostDecode(_ value, args []value) value {
	vm := in.vm
	data, ok := vm.span(args[0])
	if !ok {
		return vm.throw("TypeError", "decode needs a buffer or a view of one")
	}
	// Twice: the first time tells how much memory the text takes.
	size, valid, done := vm.decoded(data, func([]byte) {})
	switch {
	case !done:
		return in.resume(undefined)
	case valid && data.n == 0:
		return vm.newString("")
	case valid:
		return in.resume(lib.XJS_NewStringLen(vm.tls, vm.ctx, data.addr, lib.Tsize_t(data.n)))
	case isTrue(args[1]):
		return vm.throwWith("TypeError", "the encoded data was not valid for encoding utf-8", map[string]string{"code": "ERR_ENCODING_INVALID_ENCODED_DATA"})
	}
	p := vm.heap.alloc(uintptr(size))
	if p == 0 {
		return lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	defer vm.heap.release(p)
	left := span{p, size}
	if _, _, done = vm.decoded(data, func(part []byte) { left.write(part); left = left.from(len(part)) }); !done {
		return in.resume(undefined)
	}
	return in.resume(lib.XJS_NewStringLen(vm.tls, vm.ctx, p, lib.Tsize_t(size)))
}

// decoded has each part of the text taken that bytes of UTF-8 are, with one U+FFFD
// for each maximal part of a sequence that is broken off. It returns the size of
// all, and whether nothing was broken; done is false where the program has to end
// before it is over.
func (vm *vm) decoded(data span, take func(part []byte)) (size int, valid, done bool) {
	valid = true
	var in, out []byte // with what is left of the part before
	done = vm.inPieces(data.n, func(from, to int) {
		in = append(in, span{data.addr + uintptr(from), to - from}.raw()...)
		end := len(in)
		if to < data.n {
			end = wholeRunes(in)
		}
		part := in[:end]
		if !utf8.Valid(part) {
			valid = false
			out = replaceInvalid(out[:0], part)
			part = out
		}
		take(part)
		size += len(part)
		in = append(in[:0], in[end:]...)
	})
	return size, valid, done
}

// wholeRunes returns how many bytes of b come before what more bytes may complete.
func wholeRunes(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return len(b) - n
			}
			break
		}
	}
	return len(b)
}

// replaceInvalid appends b with one U+FFFD for each maximal part of a sequence that
// is broken off, as TextDecoder does.
func replaceInvalid(out, b []byte) []byte {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = brokenLen(b)
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
}

// brokenLen returns the length of the longest prefix of s that begins a valid
// sequence, at least 1.
func brokenLen(s []byte) int {
	lo, hi, want := byte(0x80), byte(0xBF), 0
	switch c := s[0]; {
	case c >= 0xC2 && c <= 0xDF:
		want = 1
	case c >= 0xE0 && c <= 0xEF:
		want = 2
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		want = 3
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	}
	n := 1
	for ; n <= want && n < len(s) && s[n] >= lo && s[n] <= hi; n++ {
		lo, hi = 0x80, 0xBF
	}
	return n
}
