// Package mimedata tells what a string is the data of, by its MIME type. The
// drivers of providers/subprocess have the same rule in their languages.
package mimedata

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// OfString returns the bytes that s, of a type that is not JSON, stands for: those
// that it is the base64 of where the type is known to be binary, and where the type
// is unknown and they are no text; otherwise its own, so that text that looks like
// base64 stays what the program gave. ok is false for what should be base64 and is
// not.
func OfString(mime, s string) (data []byte, ok bool) {
	if codeinterp.IsText(mime) {
		return []byte(s), true
	}
	packed := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == ' ' {
			return -1
		}
		return r
	}, s)
	b, err := base64.StdEncoding.DecodeString(packed)
	if codeinterp.IsBinary(mime) {
		if err != nil {
			b, err = base64.RawStdEncoding.DecodeString(packed)
		}
		return b, err == nil
	}
	if err == nil && !utf8.Valid(b) {
		return b, true
	}
	return []byte(s), true
}
