package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The places around the cursor that keys move to.

func (e *Editor) left() int {
	_, size := utf8.DecodeLastRuneInString(e.text[:e.pos])
	return e.pos - size
}

func (e *Editor) right() int {
	_, size := utf8.DecodeRuneInString(e.text[e.pos:])
	return e.pos + size
}

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.pos], '\n') + 1 }

func (e *Editor) lineEnd() int {
	line, _, _ := strings.Cut(e.text[e.pos:], "\n")
	return e.pos + len(line)
}

func inWord(r rune) bool    { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
func notInWord(r rune) bool { return !inWord(r) }

func (e *Editor) wordStart() int {
	return len(strings.TrimRightFunc(strings.TrimRightFunc(e.text[:e.pos], notInWord), inWord))
}

func (e *Editor) wordEnd() int {
	return len(e.text) - len(strings.TrimLeftFunc(strings.TrimLeftFunc(e.text[e.pos:], notInWord), inWord))
}
