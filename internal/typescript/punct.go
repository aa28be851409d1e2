package typescript

import (
	"slices"
	"strings"
)

// punctuators are all but those of more than one byte that begin with >, by their length.
var punctuators = func() (list [4][]string) {
	for _, s := range strings.Fields("{ } ( ) [ ] ; , ~ : @ > . ? = ! < * & | + - / % ^ ?? ?. => == != <= ** && || << ++ -- += -= *= /= %= &= |= ^= ... ??= === !== <<= **= &&= ||=") {
		list[len(s)] = append(list[len(s)], s)
	}
	return list
}()

// punctLen returns the length of the punctuator that s begins with, 0 where
// that is none. One that begins with > is a single byte: joinGreater makes more
// of it where there can be no type arguments.
func punctLen(s string) int {
	for n := min(3, len(s)); n > 0; n-- {
		// In a?.5:b the digit makes it a conditional: ECMA-262, 12.8.
		if slices.Contains(punctuators[n], s[:n]) && !(s[:n] == "?." && len(s) > 2 && s[2] >= '0' && s[2] <= '9') {
			return n
		}
	}
	return 0
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
	return precedences[t.text]
}

var precedences = func() map[string]int {
	m := map[string]int{}
	for prec, list := range []string{"", "= += -= *= /= %= **= &= |= ^= <<= >>= >>>= &&= ||= ??=", "&& || ?? | ^ & == != === !==", "< > <= >=",
		"<< >> >>>", "+ -", "* / %", "**"} {
		for _, op := range strings.Fields(list) {
			m[op] = prec
		}
	}
	return m
}()

var reservedWords = strings.Fields(`break case catch class const continue debugger default delete do else enum export extends false finally for
	function if import in instanceof new null return super switch this throw true try typeof var void while with`)

// reserved reports whether no binding can have the name.
func reserved(name string) bool {
	_, found := slices.BinarySearch(reservedWords, name)
	return found
}
