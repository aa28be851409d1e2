package source

import "strings"

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
