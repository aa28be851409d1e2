package quickjs

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

const (
	// asciiSpace is what base64 text may be broken up by.
	asciiSpace = " \t\n\f\r"

	// Of base64 so many characters are worked on at once, or the bytes of those.
	base64Chars, base64Bytes = pieceSize, pieceSize / 4 * 3
)

// atob and btoa work on strings of the characters 0 to 255.
func (in *instance) atob(_ value, args []value) value {
	vm := in.vm
	text, _, ok := vm.textBytes(args[0], 0)
	if !ok {
		return exception
	}
	clean := text[:0]
	ok = vm.inPieces(len(text), func(from, to int) {
		for _, c := range text[from:to] {
			if strings.IndexByte(asciiSpace, c) < 0 {
				clean = append(clean, c)
			}
		}
	})
	// As the standard's forgiving decoding has it: of another length they are characters
	// that are not allowed.
	if len(clean)%4 == 0 {
		clean = bytes.TrimSuffix(bytes.TrimSuffix(clean, []byte("=")), []byte("="))
	}
	out, piece := draft{vm: vm}, make([]byte, 0, min(len(clean), base64Bytes))
	var err error
	for len(clean) > 0 && err == nil && ok && !vm.stopping.Load() {
		n := min(len(clean), base64Chars)
		if piece, err = base64.RawStdEncoding.AppendDecode(piece[:0], clean[:n]); err == nil {
			ok = out.addLatin1(piece)
			clean = clean[n:]
		}
	}
	switch {
	case err != nil:
		return vm.throwWith("InvalidCharacterError", "the string to be decoded is not correctly encoded", nil)
	case !ok && !vm.stopping.Load():
		return exception
	}
	return in.resume(vm.newStringOf(out.b))
}

// addLatin1 adds the text whose characters are the bytes.
func (d *draft) addLatin1(b []byte) bool {
	high := 0
	for _, c := range b {
		high += int(c >> 7)
	}
	if !d.grow(len(b) + high) {
		return false
	}
	if high == 0 {
		d.b = append(d.b, b...)
		return true
	}
	for _, c := range b {
		d.b = utf8.AppendRune(d.b, rune(c))
	}
	return true
}

func (in *instance) btoa(_ value, args []value) value {
	vm := in.vm
	text, _, ok := vm.textBytes(args[0], 0)
	if !ok {
		return exception
	}
	b, fits := text[:0], true // a character's bytes become one
	for at, done := 0, true; at < len(text) && done && fits; {
		done = vm.inPieces(min(len(text)-at, pieceSize), func(_, n int) {
			for end := at + n; at < end && fits; {
				r, size := utf8.DecodeRune(text[at:])
				fits = r <= 0xFF
				b = append(b, byte(r))
				at += size
			}
		})
	}
	if !fits {
		return vm.throwWith("InvalidCharacterError", "the string to be encoded contains characters beyond U+00FF", nil)
	}
	out := draft{vm: vm}
	if !out.grow(base64.StdEncoding.EncodedLen(len(b))) {
		return exception
	}
	for len(b) > 0 && !vm.stopping.Load() {
		n := min(len(b), base64Bytes)
		out.b = base64.StdEncoding.AppendEncode(out.b, b[:n])
		b = b[n:]
	}
	return in.resume(vm.newStringOf(out.b))
}

// hostDecode decodes UTF-8; where the second argument is true it is strict.
func (in *instance) hostDecode(_ value, args []value) value {
	vm := in.vm
	data, ok := vm.span(args[0])
	if !ok {
		return vm.throw("TypeError", "decode needs a buffer or a view of one")
	}
	b, ok := vm.copied(data)
	switch {
	case !ok:
		return exception
	case utf8.Valid(b):
		return vm.newStringOf(b)
	case isTrue(args[1]):
		return vm.throwWith("TypeError", "the encoded data was not valid for encoding utf-8", map[string]string{"code": "ERR_ENCODING_INVALID_ENCODED_DATA"})
	}
	out := draft{vm: vm}
	for from := 0; from < len(b) && !vm.stopping.Load(); {
		part := b[from:min(from+pieceSize, len(b))]
		if from+len(part) < len(b) {
			part = part[:wholeRunes(part)]
		}
		if !out.grow(3 * len(part)) {
			return exception
		}
		out.b = replaceInvalid(out.b, part)
		from += len(part)
	}
	return in.resume(vm.newStringOf(out.b))
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
