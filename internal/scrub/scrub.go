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
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// minSecret is the shortest secret, in bytes, that is distinguished from ordinary
// text.
const minSecret = 4

// A Set is a set of secrets. A nil *Set replaces nothing. It is safe for concurrent
// use.
type Set struct {
	auto  *automaton
	tails func() *automaton   // for the patterns read backwards
	shown func(string) string // of a name
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
	return &Set{
		auto:  newAutomaton(patterns),
		tails: sync.OnceValue(func() *automaton { return newAutomaton(reversed(patterns)) }),
		shown: func(name string) string { return name },
	}
}

// Shown returns a Set that also looks for secrets in the names of a Result as
// shown renders them: a secret with a control sequence in its middle is found only
// once that is removed. It works on nil.
func (s *Set) Shown(shown func(string) string) *Set {
	if s == nil {
		return nil
	}
	return &Set{s.auto, s.tails, shown}
}

func reversed(list []string) []string {
	back := make([]string, len(list))
	for i, s := range list {
		b := []byte(s)
		slices.Reverse(b)
		back[i] = string(b)
	}
	return back
}

// ending returns how many of the first bytes of p may be the end of a secret.
func (s *Set) ending(p []byte) int {
	// Read towards the front, the state ends as the longest tail of a pattern that
	// fills the bytes from p's first one on.
	a, at := s.tails(), int32(0)
	for i := min(len(p), a.longer) - 1; i >= 0; i-- {
		at = a.step(at, p[i])
	}
	return int(a.states[at].size)
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

// scrub returns p itself where nothing was found.
func (s *Set) scrub(p []byte) ([]byte, bool) {
	if found, _ := s.auto.scan(0, p); !found {
		return p, false
	}
	m := matcher{auto: s.auto}
	out := m.next(nil, p)
	return m.end(out), true
}

// MaskInPlace overwrites every secret in p. Where p starts or ends with a gap in the
// text, it overwrites what may be a part of a secret too. It works on nil.
func (s *Set) MaskInPlace(p []byte, partialStart, partialEnd bool) {
	if s == nil {
		return
	}
	first := 0
	if partialStart {
		first = s.ending(p) // before anything in p is overwritten
	}
	at := int32(0)
	for i, b := range p {
		at = s.auto.step(at, b)
		n := int(s.auto.states[at].found)
		stars(p[i+1-n : i+1])
	}
	if first >= minSecret {
		stars(p[:first])
	}
	if n := int(s.auto.states[at].open); partialEnd && n >= minSecret {
		stars(p[len(p)-n:])
	}
}

func stars(p []byte) {
	for i := range p {
		p[i] = '*'
	}
}

var mask = []byte("[secret]")
