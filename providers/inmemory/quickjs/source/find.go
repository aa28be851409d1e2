package source

import (
	"slices"
	"strings"
)

// ImportOf returns where the declaration is that imports a module, -1 where
// there is none: where it says import or from.
func ImportOf(code, module string) int {
	for at := 0; ; at += len(module) {
		i := strings.Index(code[at:], module)
		if i < 0 {
			return -1
		}
		at += i
		quote := before(code, at)
		rest := code[at+len(module):]
		if quote != '"' && quote != '\'' || !strings.HasPrefix(rest, string(rune(quote))) {
			continue
		}
		head := spaceBefore(code[:at-1])
		for _, word := range []string{"import", "from"} {
			if start := len(head) - len(word); strings.HasSuffix(head, word) && !isWord(before(head, start)) {
				return start
			}
		}
	}
}

// DeclarationAt returns where a name stands that a program declares at its top level by
// one of some words, -1 if that is not found.
func DeclarationAt(src, name string, words []string, stopped func() bool) int {
	s := scanner{src: src}
	for tokens := 0; s.next(); tokens++ {
		if tokens%askEvery == askEvery-1 && stopped() {
			return -1
		}
		if s.depth > 1 || s.depth == 1 && s.kind == word || !slices.Contains(words, s.text) || s.prev == "." {
			continue
		}
		if s.text == "function" && s.peek() == "*" {
			s.next()
		}
		if t := s; t.next() && t.kind == word && t.text == name {
			return t.start
		}
	}
	return -1
}
