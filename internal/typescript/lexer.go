package typescript

import (
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	eof       kind = iota
	word           // an identifier or a keyword
	private        // #name
	number         // a number or a regular expression
	str            // a string
	backquote      // the beginning of a template
	punct          // a punctuator
	bad            // no token; its text says why
)

// A token is a piece of the source from start to end.
type token struct {
	kind       kind
	nl         bool // a line break stands before it
	start, end int
	text       string // of words and punctuators
}

func (t token) is(punctuator string) bool { return t.kind == punct && t.text == punctuator }
func (t token) word(w string) bool        { return t.kind == word && t.text == w }

func (p *parser) is(punctuator string) bool { return p.tok.is(punctuator) }
func (p *parser) isWord(w string) bool      { return p.tok.word(w) }

// accept goes on to the next token if the one at hand is this punctuator.
func (p *parser) accept(punctuator string) bool {
	if !p.is(punctuator) {
		return false
	}
	p.next()
	return true
}

func (p *parser) acceptWord(w string) bool {
	if !p.isWord(w) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(punctuator string) {
	if !p.accept(punctuator) {
		p.unexpected()
	}
}

// list parses elements, with commas between them, up to a closing punctuator.
func (p *parser) list(closing string, element func()) {
	for !p.is(closing) {
		element()
		if !p.is(closing) {
			p.expect(",")
		}
	}
	p.next()
}

// next goes on to the next token. Whether a slash begins a regular expression,
// and how much of >>= is one operator, depends on what the parser expects:
// here / is a punctuator and > always one of its own.
func (p *parser) next() {
	p.last = p.tok.end
	i, nl, ok := p.space(p.last)
	t := token{start: i, nl: nl}
	switch {
	case !ok:
		t.kind, t.text, t.end = bad, "Invalid or unexpected token", len(p.src)
	case i == len(p.src):
		t.end = i
	default:
		p.scan(&t)
	}
	// By length too, since long comments and strings may be looked at again.
	p.step(1 + (t.end-p.last)/64)
	p.tok = t
}

// peek returns the token after the one at hand.
func (p *parser) peek() token {
	tok, last := p.tok, p.last
	p.next()
	t := p.tok
	p.tok, p.last = tok, last
	return t
}

// peek2 returns the two tokens after the one at hand.
func (p *parser) peek2() (token, token) {
	tok, last := p.tok, p.last
	p.next()
	first, second := p.tok, p.peek()
	p.tok, p.last = tok, last
	return first, second
}

// space returns the end of the blanks and comments from i on, and whether there
// was a line break. It is not ok where a comment has no end.
func (p *parser) space(i int) (end int, nl, ok bool) {
	src := p.src
	for i < len(src) {
		switch c := src[i]; {
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			i++
		case c == '\n' || c == '\r':
			nl = true
			i++
		case c == '/' && i+1 < len(src) && src[i+1] == '/':
			i = lineEnd(src, i)
		case c == '/' && i+1 < len(src) && src[i+1] == '*':
			end, broken := commentEnd(src, i+2)
			if end < 0 {
				return i, nl, false
			}
			i, nl = end, nl || broken
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(src[i:])
			if !blankRune(r) {
				return i, nl, true
			}
			nl = nl || lineBreak(r)
			i += n
		default:
			return i, nl, true
		}
	}
	return i, nl, true
}

func lineBreak(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

// blankRune reports whether a rune beyond ASCII is white space.
func blankRune(r rune) bool {
	switch r {
	case '\u00A0', '\u1680', '\u2028', '\u2029', '\u202F', '\u205F', '\u3000', '\uFEFF':
		return true
	}
	return r >= '\u2000' && r <= '\u200A'
}

// lineEnd returns the end of the line that i is in.
func lineEnd(src string, i int) int { return i + len(firstLine(src[i:])) }

// commentEnd returns where a block comment ends, -1 where it does not, and
// whether there is a line break in it.
func commentEnd(src string, i int) (end int, nl bool) {
	n := strings.Index(src[i:], "*/")
	if n < 0 {
		return -1, false
	}
	return i + n + 2, firstLine(src[i:i+n]) != src[i:i+n]
}

// scan sets the kind, the end and the text of the token that begins at t.start.
func (p *parser) scan(t *token) {
	src, i := p.src, t.start
	c := src[i]
	switch {
	case identStart(c):
		t.kind, t.end = word, identEnd(src, i)
	case c >= '0' && c <= '9' || c == '.' && i+1 < len(src) && src[i+1] >= '0' && src[i+1] <= '9':
		t.kind, t.end = number, numberEnd(src, i)
	case c == '"' || c == '\'':
		t.kind, t.end = str, stringEnd(src, i)
	case c == '`':
		t.kind, t.end = backquote, i+1
	case c == '#' && i+1 < len(src) && identStart(src[i+1]):
		t.kind, t.end = private, identEnd(src, i+1)
	default:
		t.kind, t.end = punct, i+punctLen(src[i:])
	}
	if t.end <= i {
		t.kind, t.end, t.text = bad, len(src), "Invalid or unexpected token"
		return
	}
	if t.kind == word || t.kind == punct {
		t.text = src[i:t.end]
	}
}
