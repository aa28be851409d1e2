// Package scrub replaces secrets in text, in streams of outputs and in Results.
// Package tools/secret is its public face.
package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// minSecret is the shortest secret, in bytes, that is distinguished from ordinary
// text.
const minSecret = 4

// A Set is a set of secrets. A nil *Set replaces nothing. It is safe for concurrent
// use.
type Set struct {
	byFirst [256][]string // the patterns, by their first byte
}

// New makes a Set of values of at least four bytes, and of their encoded forms.
func New(values ...string) (*Set, error) {
	var patterns []string
	for i, v := range values {
		if len(v) < minSecret {
			return nil, fmt.Errorf("secret: value %d of %d has %d bytes, fewer than %d: it would be found everywhere", i+1, len(values), len(v), minSecret)
		}
		patterns = append(patterns, forms(v)...)
	}
	return of(patterns), nil
}

func of(patterns []string) *Set {
	s := &Set{}
	slices.Sort(patterns)
	for _, p := range slices.Compact(patterns) {
		s.byFirst[p[0]] = append(s.byFirst[p[0]], p)
	}
	return s
}

// forms returns the ways in which a secret is looked for.
func forms(secret string) []string {
	list := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), whitespace.Replace(secret)}
	// Some encoders write <, > and & as escapes, as Go's does by default, others do
	// not.
	for _, html := range []bool{true, false} {
		var quoted bytes.Buffer
		enc := json.NewEncoder(&quoted)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(secret); err == nil {
			text := strings.Trim(quoted.String(), "\n")
			text = text[1 : len(text)-1]
			// PHP escapes slashes as well.
			list = append(list, text, ascii(text), strings.ReplaceAll(ascii(text), "/", `\/`))
		}
	}
	// Without padding, which depends on what comes after the secret.
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			list = append(list, encoded(enc, secret, shift))
		}
	}
	return list
}

// whitespace escapes what runtimes escape when they print a string in quotes
// that it does not contain.
var whitespace = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// ascii escapes what is not ASCII, as Python does in JSON.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// encoded returns the characters of the base64 form of a text in which secret
// starts shift bytes after a group of three, as far as they do not depend on
// what stands around it.
func encoded(enc *base64.Encoding, secret string, shift int) string {
	text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + secret))
	first := (shift*8 + 5) / 6
	last := (shift + len(secret)) * 8 / 6
	return text[first:last]
}

// Scrub returns text with "[secret]" in place of every secret. It works on nil.
func (s *Set) Scrub(text string) string {
	if s == nil {
		return text
	}
	if out, changed := s.scrub([]byte(text)); changed {
		return string(out)
	}
	return text
}

// scrub returns p itself if it has no secret.
func (s *Set) scrub(p []byte) ([]byte, bool) {
	m := matcher{set: s}
	for from := 0; from < len(p); {
		i, found := s.scan(p[from:])
		if found {
			return m.next(nil, p, true), true
		}
		from += i + 1 // past a beginning at the end of p
	}
	return p, false
}

var mask = []byte("[secret]")
