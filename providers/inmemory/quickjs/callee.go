package quickjs

import "strings"

// tailCall returns where the parenthesis is of the call that all of the
// expression after src[at:], a return, consists of. The engine gives such a call
// the position of the return.
func tailCall(src string, at int) (int, bool) {
	rest, ok := strings.CutPrefix(src[at:], "return")
	if !ok || rest == "" || isWord(rest[0]) {
		return 0, false
	}
	from := len(src) - len(strings.TrimLeft(rest, " \t"))
	end, ok := expressionEnd(src, from)
	if !ok {
		return 0, false
	}
	open, ok := opening(src, end)
	if !ok || src[open] != '(' {
		return 0, false
	}
	_, start, _, ok := chain(src, open, 0)
	return open, ok && start == from
}

// expressionEnd returns where the expression at src[from:] ends, which has to be
// with a bracket: before a semicolon, a line's end or the end of what it is in.
func expressionEnd(src string, from int) (int, bool) {
	depth := 0
	for i := from; i < len(src); i++ {
		if i-from > maxExpression {
			return 0, false
		}
		switch c := src[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				end := len(spaceBefore(src[:i]))
				return end, end > from && src[end-1] == ')'
			}
		case '"', '\'', '`':
			n := strings.IndexByte(src[i+1:], c)
			if n < 0 {
				return 0, false
			}
			i += n + 1
		case ';', '\n':
			if end := len(spaceBefore(src[:i])); depth == 0 && (c == ';' || !strings.HasPrefix(strings.TrimLeft(src[i:], " \t\r\n"), ".")) {
				return end, end > from && src[end-1] == ')'
			}
		}
	}
	end := len(spaceBefore(src))
	return end, depth == 0 && end > from && src[end-1] == ')'
}

// assignsAt returns where the operator is that sets what the name at src[at:],
// with or without a dot or brackets, says.
func assignsAt(src string, at int) (int, bool) {
	i := at
	switch {
	case i < len(src) && src[i] == '[':
		n := strings.IndexAny(src[i:], "]\n")
		if n < 0 || src[i+n] != ']' {
			return 0, false
		}
		i += n + 1
	default:
		if i < len(src) && src[i] == '.' {
			i++
		}
		for i < len(src) && isWord(src[i]) {
			i++
		}
	}
	i = len(src) - len(strings.TrimLeft(src[i:], " \t"))
	if i >= len(src) || strings.IndexByte("=+-*/%&|^<>?", src[i]) < 0 {
		return 0, false
	}
	return i, true
}

// calleeBefore returns what is called by the parenthesis at src[end], in the
// words in which V8 names it: a.b(...).c for a.b(1).c. at is where its last
// name begins, or new, and made is whether that stands before it. ok is false where the
// text is not understood.
func calleeBefore(src string, end int) (text string, at int, made, ok bool) {
	text, start, at, ok := chain(src, end, 0)
	if !ok {
		return "", 0, false, false
	}
	head := spaceBefore(src[:start])
	if strings.HasSuffix(head, "new") && !isWord(before(head, len(head)-3)) && !strings.HasPrefix(text, intermediate) {
		return text, len(head) - len("new"), true, true
	}
	return text, at, false, true
}

const (
	intermediate = "(intermediate value)"
	maxChain     = 32

	maxExpression = 4 << 10 // bytes of an expression that are looked through
)

// chain reads the member expression that ends at src[end], from its end.
func chain(src string, end, depth int) (text string, start, last int, ok bool) {
	end = len(spaceBefore(src[:end]))
	if depth > maxChain || end == 0 {
		return "", 0, 0, false
	}
	switch c := src[end-1]; {
	case isWord(c):
		return nameChain(src, end, depth)
	case c == '.' && strings.HasSuffix(src[:end], "?."): // of an optional call
		return chain(src, end-2, depth+1)
	case c == '"' || c == '\'':
		if i := strings.LastIndexByte(src[:end-1], c); i >= 0 {
			return `"` + src[i+1:end-1] + `"`, i, i, true
		}
		return "", 0, 0, false
	case c == '`':
		if i := strings.LastIndexByte(src[:end-1], c); i >= 0 {
			return intermediate, i, i, true
		}
		return "", 0, 0, false
	}
	open, ok := opening(src, end)
	if !ok {
		return "", 0, 0, false
	}
	inside := strings.TrimSpace(src[open+1 : end-1])
	if endsExpression(src[:open]) {
		// A bracket that follows an operand is a call or an index; a block is neither.
		if src[end-1] == '}' {
			return intermediate, open, open, true
		}
		object, start, at, ok := chain(src, open, depth+1)
		if !ok {
			return "", 0, 0, false
		}
		if src[end-1] == ')' {
			if strings.HasSuffix(spaceBefore(src[:start]), "new") {
				return intermediate, start, open, true
			}
			return object + "(...)", start, at, true
		}
		return object + keyed(inside), start, open, true
	}
	switch {
	case src[end-1] == ')' && plain(inside):
		return inside, open, open + 1, true
	case src[end-1] == ')' && strings.HasPrefix(inside, "void "):
		return "(" + inside + ")", open, open, true
	case src[end-1] == ']' && plainList(inside):
		return "[" + strings.ReplaceAll(inside, " ", "") + "]", open, open, true
	case src[end-1] == '}' && inside == "":
		return "{}", open, open, true
	}
	return intermediate, open, open, true
}

// nameChain is chain where it ends in a name or a number.
func nameChain(src string, end, depth int) (text string, start, last int, ok bool) {
	at := end
	for at > 0 && (isWord(src[at-1]) || src[at-1] == '#') {
		at--
	}
	name, rest := src[at:end], spaceBefore(src[:at])
	if !strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, "...") {
		if name == "super" {
			name = intermediate
		}
		return name, at, at, true
	}
	dot := "."
	rest = rest[:len(rest)-1]
	if strings.HasSuffix(rest, "?") {
		dot, rest = "?.", rest[:len(rest)-1]
	}
	object, start, _, ok := chain(src, len(rest), depth+1)
	return object + dot + name, start, at, ok
}

// keyed is how V8 shows [key].
func keyed(key string) string {
	if n := len(key); n > 1 && (key[0] == '"' || key[0] == '\'') && key[n-1] == key[0] {
		return "." + key[1:n-1]
	}
	if !plain(key) {
		key = intermediate
	}
	return "[" + key + "]"
}

// plain reports whether a text is a name, a number, or names with dots.
func plain(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '.' {
			return false
		}
	}
	return s != ""
}

func plainList(s string) bool { return plain(strings.NewReplacer(",", "", " ", "").Replace(s) + "0") }

// opening finds the bracket that the one before src[end] closes. Brackets in
// texts are passed over, those in comments and regular expressions are not.
func opening(src string, end int) (int, bool) {
	var open []byte
	for i := end - 1; i >= 0; i-- {
		switch c := src[i]; c {
		case ')', ']', '}':
			open = append(open, map[byte]byte{')': '(', ']': '[', '}': '{'}[c])
		case '(', '[', '{':
			if len(open) == 0 || open[len(open)-1] != c {
				return 0, false
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i, true
			}
		case '"', '\'', '`':
			j := strings.LastIndexByte(src[:i], c)
			if j < 0 {
				return 0, false
			}
			i = j
		}
		if len(open) == 0 || len(open) > maxChain {
			return 0, false
		}
	}
	return 0, false
}

// endsExpression reports whether an operand ends a text, so that a bracket
// after it calls or indexes it.
func endsExpression(src string) bool {
	src = spaceBefore(src)
	if src == "" {
		return false
	}
	c := src[len(src)-1]
	if !isWord(c) {
		return strings.IndexByte(")]\"'`}", c) >= 0 && c != '}'
	}
	i := len(src)
	for i > 0 && isWord(src[i-1]) {
		i--
	}
	switch src[i:] {
	case "return", "typeof", "void", "delete", "await", "yield", "new", "in", "of", "instanceof", "throw", "case", "else", "do", "if", "while", "for", "switch", "with", "catch":
		return before(src, i) == '.'
	}
	return true
}

// operandAt returns the names and dots at the beginning of a text, up to what
// ends the expression that they are.
func operandAt(src string) (string, bool) {
	i := 0
	for i < len(src) && (isWord(src[i]) || src[i] == '.') {
		i++
	}
	rest := strings.TrimLeft(src[i:], " \t")
	if i == 0 || rest != "" && strings.IndexByte(")];,}\n\r", rest[0]) < 0 {
		return "", false
	}
	return strings.TrimSuffix(src[:i], "."), true
}

func spaceBefore(s string) string { return strings.TrimRight(s, " \t\r\n") }

func before(s string, i int) byte {
	if i <= 0 || i > len(s) {
		return 0
	}
	return s[i-1]
}

// isWord reports whether a byte can be in a name: all that are not ASCII can.
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
