package source

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token's kind.
const (
	none = iota
	word
	str
	other
)

// A scanner splits JavaScript into tokens, as exactly as it takes to tell what
// is at the top level: strings, templates, regular expressions and comments
// count as one token or none.
type scanner struct {
	src        string
	pos        int
	depth      int // of brackets
	kind       int
	start, end int
	text, prev string
	divides    bool // a slash would divide here
	templates  int  // that it is in
}

func (s *scanner) skipTo(pos int) {
	s.pos, s.text, s.prev, s.divides = pos, ";", ";", false
}

// peek returns the next token's text without consuming it.
func (s *scanner) peek() string {
	t := *s
	if !t.next() {
		return ""
	}
	return t.text
}

// next reads a token; it returns false at the end.
func (s *scanner) next() bool {
	s.blank()
	if s.pos >= len(s.src) {
		s.kind = none
		return false
	}
	s.prev, s.start = s.text, s.pos
	switch c := s.src[s.pos]; {
	case c == '"' || c == '\'':
		s.kind, s.divides = str, true
		s.quoted(c)
	case c == '`':
		s.kind, s.divides = other, true
		s.template()
	case c == '/' && !s.divides:
		s.kind, s.divides = other, true
		s.regexp()
	case wordByte(c):
		s.kind = word
		for s.pos < len(s.src) && wordByte(s.src[s.pos]) {
			s.pos++
		}
		s.divides = !operators[s.src[s.start:s.pos]]
	default:
		s.kind = other
		s.punctuation(c)
	}
	s.end = s.pos
	s.text = s.src[s.start:s.end]
	return true
}

// operators are the words after which a slash begins a regular expression.
var operators = map[string]bool{"return": true, "typeof": true, "case": true, "in": true, "of": true, "delete": true, "void": true,
	"throw": true, "new": true, "instanceof": true, "do": true, "else": true, "await": true, "yield": true}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c == '\\' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (s *scanner) punctuation(c byte) {
	s.pos++
	switch c {
	case '(', '[', '{':
		s.depth++
		s.divides = false
	case ')', ']':
		s.depth = max(0, s.depth-1)
		s.divides = true
	case '}':
		s.depth = max(0, s.depth-1)
		// As after a block, which braces mostly are; behind an object literal it would divide.
		s.divides = false
	default:
		s.divides = false
	}
}

// blank skips space and comments.
func (s *scanner) blank() {
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF':
			s.pos += n
		case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "#!") && s.pos == 0:
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			s.pos += n
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest[2:], "*/"); n < 0 {
				s.pos = len(s.src)
			} else {
				s.pos += n + 4
			}
		default:
			return
		}
	}
}

func (s *scanner) quoted(q byte) {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case q:
			s.pos++
			return
		case '\n':
			return
		}
	}
	s.pos = len(s.src)
}

// maxTemplates is how deep templates may be in each other: the engine itself has
// not the stack for more.
const maxTemplates = 1000

// template skips a template literal; what it interpolates is scanned.
func (s *scanner) template() {
	if s.templates == maxTemplates {
		s.pos = len(s.src)
		return
	}
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '`':
			s.pos++
			return
		case '$':
			if strings.HasPrefix(s.src[s.pos:], "${") {
				inner := scanner{src: s.src, pos: s.pos + 2, depth: 1, templates: s.templates + 1}
				for inner.depth > 0 && inner.next() {
				}
				s.pos = inner.pos - 1
			}
		}
	}
	s.pos = min(s.pos, len(s.src))
}

func (s *scanner) regexp() {
	class := false
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '\\':
			s.pos++
		case c == '\n':
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.pos++
			return
		}
	}
	s.pos = min(s.pos, len(s.src))
}
