package tools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// minSecret is the shortest secret, in bytes, that can be told from ordinary
// text.
const minSecret = 4

// Secrets are values that must not come out of a run. A nil *Secrets scrubs
// nothing. It is safe for concurrent use.
type Secrets struct{ auto automaton }

// NewSecrets registers values of at least four bytes. Their base64 forms (also
// within longer encoded text), URL-encoded and JSON-escaped forms are found as
// well.
func NewSecrets(values ...string) (*Secrets, error) {
	var patterns []string
	for i, v := range values {
		if len(v) < minSecret {
			return nil, fmt.Errorf("tools: secret %d of %d has %d bytes, fewer than %d: it would be found everywhere", i+1, len(values), len(v), minSecret)
		}
		patterns = append(patterns, forms(v)...)
	}
	return &Secrets{newAutomaton(patterns)}, nil
}

// forms returns the ways in which a secret is looked for.
func forms(secret string) []string {
	list := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	if quoted, err := json.Marshal(secret); err == nil {
		list = append(list, string(quoted[1:len(quoted)-1]))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			list = append(list, encoded(enc, secret, shift))
		}
	}
	return list
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

// Scrub returns s with every secret replaced by [secret].
func (s *Secrets) Scrub(text string) string {
	if s == nil {
		return text
	}
	if out, changed := s.scrub([]byte(text)); changed {
		return string(out)
	}
	return text
}

// scrub returns p itself where nothing was found.
func (s *Secrets) scrub(p []byte) ([]byte, bool) {
	if found, _ := s.auto.scan(0, p); !found {
		return p, false
	}
	m := matcher{auto: &s.auto}
	out := m.next(nil, p)
	return m.end(out), true
}

// blot overwrites every secret in p.
func (s *Secrets) blot(p []byte) {
	if s == nil {
		return
	}
	state := int32(0)
	for i, c := range p {
		state = s.auto.next[int(state)*s.auto.width+int(s.auto.class[c])]
		for at := i + 1 - int(s.auto.longest[state]); at <= i; at++ {
			p[at] = '*'
		}
	}
}

var mask = []byte("[secret]")
