package typescript

import (
	"strings"
	"unicode/utf8"
)

// identStart reports whether an identifier may begin with the byte. Which runes
// beyond ASCII do so the engine decides.
func identStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf || c == '\\'
}

func identPart(c byte) bool { return identStart(c) || c >= '0' && c <= '9' }

// identEnd returns the end of the identifier from i on.
func identEnd(src string, i int) int {
	for i < len(src) && identPart(src[i]) {
		switch c := src[i]; {
		case c == '\\':
			if i = escapeEnd(src, i); i < 0 {
				return i
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(src[i:])
			if blankRune(r) {
				return i
			}
			i += n
		default:
			i++
		}
	}
	return i
}

// escapeEnd returns the end of the escape \uXXXX or \u{X} in an identifier, -1
// where it is none.
func escapeEnd(src string, i int) int {
	if i+2 >= len(src) || src[i+1] != 'u' {
		return -1
	}
	if src[i+2] != '{' {
		// identEnd goes on over the digits.
		return i + 2
	}
	for i += 3; i < len(src) && identPart(src[i]) && src[i] != '\\'; i++ {
	}
	if i < len(src) && src[i] == '}' {
		return i + 1
	}
	return -1
}

// numberEnd returns the end of a number. What is wrong with it the engine says.
func numberEnd(src string, i int) int {
	decimal := src[i] != '0' || i+1 == len(src) || !strings.ContainsRune("xXoObB", rune(src[i+1]))
	whole := decimal // a point may still come
	for ; i < len(src); i++ {
		switch c := src[i]; {
		case c == '.' && whole, decimal && (c == '+' || c == '-') && src[i-1]|0x20 == 'e':
			whole = false
		case c >= utf8.RuneSelf || c == '\\' || !identPart(c):
			return i
		case c != '_' && (c < '0' || c > '9'):
			whole = false
		}
	}
	return i
}

// stringEnd returns the end of a string, -1 where it has none.
func stringEnd(src string, i int) int {
	quote := src[i]
	for i++; i < len(src); i++ {
		switch src[i] {
		case quote:
			return i + 1
		case '\\':
			i++
			if i+1 < len(src) && src[i] == '\r' && src[i+1] == '\n' {
				i++
			}
		case '\n', '\r':
			return -1
		}
	}
	return -1
}

// regexp makes the slash at hand, of / or /=, a regular expression.
func (p *parser) regexp() {
	src, class := p.src, false
	for i := p.tok.start + 1; i < len(src) && src[i] != '\n' && src[i] != '\r'; i++ {
		switch src[i] {
		case '\\':
			if i++; i < len(src) && (src[i] == '\n' || src[i] == '\r') {
				p.fail(p.tok.start, "Invalid regular expression: missing /")
			}
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			// Within brackets a slash is a character.
			if class {
				continue
			}
			end := i + 1
			for end < len(src) && identPart(src[end]) && src[end] < utf8.RuneSelf && src[end] != '\\' {
				end++
			}
			p.step((end - p.tok.start) / 64)
			p.tok.kind, p.tok.end, p.tok.text = number, end, ""
			return
		}
	}
	p.fail(p.tok.start, "Invalid regular expression: missing /")
}

// template moves the end of the token at hand over the characters of a
// template: to after a back quote (done) or after ${. It is not ok where
// neither comes.
func (p *parser) template() (done, ok bool) {
	src := p.src
	from := p.tok.end
	for i := from; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\':
			i++
		case c == '`':
			p.tok.end = i + 1
			p.step((i - from) / 64)
			return true, true
		case c == '$' && i+1 < len(src) && src[i+1] == '{':
			p.tok.end = i + 2
			p.step((i - from) / 64)
			return false, true
		}
	}
	p.tok = token{kind: bad, start: from, end: len(src), text: "Unterminated template literal"}
	return false, false
}
