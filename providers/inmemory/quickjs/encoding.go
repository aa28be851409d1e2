package quickjs

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"slices"
	"strings"
	"unicode/utf8"
)

// asciiSpace is what base64 text may be broken up by.
const asciiSpace = " \t\n\f\r"

// atob and btoa work on strings of the characters 0 to 255.
func (in *instance) atob(_ value, args []value) value {
	vm := in.vm
	text, _, ok := vm.textBytes(args[0], 0)
	if !ok || !vm.borrow(3*len(text)) { // what is made of it
		return exception
	}
	clean := slices.DeleteFunc(text, func(c byte) bool { return strings.IndexByte(asciiSpace, c) >= 0 })
	// As the standard's forgiving decoding has it: of another length they are characters
	// that are not allowed.
	if len(clean)%4 == 0 {
		clean = bytes.TrimSuffix(bytes.TrimSuffix(clean, []byte("=")), []byte("="))
	}
	raw, err := base64.RawStdEncoding.AppendDecode(nil, clean)
	if err != nil {
		return in.throwDOM("InvalidCharacterError", "The string to be decoded is not correctly encoded.")
	}
	out := make([]byte, 0, 2*len(raw))
	for _, c := range raw {
		out = utf8.AppendRune(out, rune(c))
	}
	return in.resume(vm.newStringOf(out))
}

func (in *instance) btoa(_ value, args []value) value {
	vm := in.vm
	text, _, ok := vm.textBytes(args[0], 0)
	if !ok || !vm.borrow(3*len(text)) {
		return exception
	}
	b := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r > 0xFF {
			return in.throwDOM("InvalidCharacterError", "Invalid character")
		}
		b = append(b, byte(r))
	}
	return in.resume(vm.newString(base64.StdEncoding.EncodeToString(b)))
}

// throwDOM throws a DOMException.
func (in *instance) throwDOM(name, message string) value {
	args := []value{in.vm.newString(message), in.vm.newString(name)}
	defer in.vm.free(args[0])
	defer in.vm.free(args[1])
	return in.callLibrary("web", "throwDOM", undefined, args)
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
	case !vm.borrow(3 * len(b)):
		return exception
	}
	return in.resume(vm.newStringOf(replaceInvalid(b)))
}

// replaceInvalid returns b with one U+FFFD for each maximal part of a sequence that is
// broken off, as TextDecoder has it.
func replaceInvalid(b []byte) []byte {
	out := make([]byte, 0, 3*len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			// What lacks bytes is no full rune, unless the next byte is none that may follow.
			for n < len(b) && !utf8.FullRune(b[:n+1]) && !utf8.RuneStart(b[n]) {
				n++
			}
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
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

var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New,
	"sha384": sha512.New384, "sha512": sha512.New}

// hashOf returns the hash of a name, nil where there is none.
func hashOf(name string) func() hash.Hash {
	return hashes[strings.ReplaceAll(strings.ToLower(name), "-", "")]
}

// hostHash is hash(algorithm, data, key): the digest of bytes, an HMAC where there is a
// key. Without data it only checks the algorithm.
func (in *instance) hostHash(_ value, args []value) value {
	vm := in.vm
	name, _, ok := vm.clipped(args[0], 64)
	if !ok {
		return exception
	}
	maker := hashOf(name)
	switch {
	case maker == nil:
		return vm.throwWith("Error", "Digest method not supported", map[string]string{"code": "ERR_CRYPTO_INVALID_DIGEST"})
	case isUndefined(args[1]):
		return undefined
	}
	data, ok := vm.bytesOf(args[1])
	if !ok {
		return exception
	}
	h := maker()
	if !isUndefined(args[2]) {
		key, ok := vm.bytesOf(args[2])
		if !ok {
			return exception
		}
		h = hmac.New(maker, key)
	}
	for len(data) > 0 && !vm.stopping.Load() { // in pieces: a large one takes long
		n := min(len(data), 1<<20)
		h.Write(data[:n])
		data = data[n:]
	}
	return in.resume(vm.newBytes(h.Sum(nil)))
}
