package typescript

import "strings"

// punctLen returns the length of the punctuator that s begins with, 0 where
// that is none. One that begins with > is a single byte: joinGreater makes more
// of it where there can be no type arguments.
func punctLen(s string) int {
	switch c := s[0]; c {
	case '{', '}', '(', ')', '[', ']', ';', ',', '~', ':', '@', '>':
		return 1
	case '.':
		if strings.HasPrefix(s, "...") {
			return 3
		}
		return 1
	case '?':
		switch {
		case strings.HasPrefix(s, "??="):
			return 3
		case strings.HasPrefix(s, "??"):
			return 2
		// In a?.5:b the digit makes it a conditional: ECMA-262, 12.8.
		case strings.HasPrefix(s, "?.") && (len(s) == 2 || s[2] < '0' || s[2] > '9'):
			return 2
		}
		return 1
	case '=':
		if strings.HasPrefix(s, "=>") {
			return 2
		}
		return equalsLen(s)
	case '!':
		return equalsLen(s)
	case '<', '*', '&', '|':
		return doubledLen(s)
	case '+', '-':
		if len(s) > 1 && s[1] == c {
			return 2
		}
		return doubledLen(s)
	case '/', '%', '^':
		return assignLen(s, 1)
	}
	return 0
}

// equalsLen is of = == === and ! != !==.
func equalsLen(s string) int {
	n := 1
	for n < 3 && n < len(s) && s[n] == '=' {
		n++
	}
	return n
}

// doubledLen is of an operator that may stand twice, and before an =.
func doubledLen(s string) int {
	if len(s) > 1 && s[1] == s[0] {
		return assignLen(s, 2)
	}
	return assignLen(s, 1)
}

func assignLen(s string, n int) int {
	if n < len(s) && s[n] == '=' {
		return n + 1
	}
	return n
}

// joinGreater makes a > at hand the longest operator that begins there.
func (p *parser) joinGreater() {
	if !p.is(">") {
		return
	}
	end := p.tok.end
	for end < len(p.src) && end < p.tok.start+3 && p.src[end] == '>' {
		end++
	}
	if end < len(p.src) && p.src[end] == '=' {
		end++
	}
	p.tok.end, p.tok.text = end, p.src[p.tok.start:end]
}

// splitLess makes a << at hand two of <, as before f<<T>() => void>.
func (p *parser) splitLess() {
	if p.is("<<") {
		p.tok.end, p.tok.text = p.tok.start+1, "<"
	}
}

// Precedences of binary operators. An operator of assignment is one here: the
// parser only has to know what may follow.
const (
	noOperator = iota
	assignment
	logical
	relational
	shift
	additive
	multiplicative
	power
)

// precedence returns that of a binary operator, noOperator for another token.
func (t token) precedence() int {
	if t.kind == word {
		if t.text == "in" || t.text == "instanceof" {
			return relational
		}
		return noOperator
	}
	if t.kind != punct {
		return noOperator
	}
	switch t.text {
	case "=", "+=", "-=", "*=", "/=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>=", ">>>=", "&&=", "||=", "??=":
		return assignment
	case "&&", "||", "??", "|", "^", "&", "==", "!=", "===", "!==":
		return logical
	case "<", ">", "<=", ">=":
		return relational
	case "<<", ">>", ">>>":
		return shift
	case "+", "-":
		return additive
	case "*", "/", "%":
		return multiplicative
	case "**":
		return power
	}
	return noOperator
}

// reserved reports whether no binding can have the name.
func reserved(name string) bool {
	switch name {
	case "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
		"export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null",
		"return", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with":
		return true
	}
	return false
}
