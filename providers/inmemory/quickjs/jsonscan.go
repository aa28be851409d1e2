//go:build !(386 || arm || s390x)

package quickjs

import "strings"

// A jsonScan reads JSON piece by piece: encoding/json takes copies and does not stop.
type jsonScan struct {
	state jsonState
	open  []byte // the brackets around
	key   bool   // the string at hand is one
	left  string // of a literal
	hex   int    // digits that are missing
	deep  bool   // it is nested too deep to be read on
}

// maxJSONDepth is encoding/json's own.
const maxJSONDepth = 10000

// A jsonState is what may come next.
type jsonState int

const (
	aValue jsonState = iota
	aFirstItem
	aFirstKey
	aKey
	aColon
	afterMember
	afterItem
	afterAll
	inString
	inEscape
	inHex
	inLiteral
	// of a number
	afterMinus
	afterZero
	inDigits
	afterPoint
	inFraction
	afterE
	afterSign
	inExponent
)

// scan reads bytes and returns how many were right.
func (s *jsonScan) scan(b []byte) int {
	for i := 0; i < len(b); i++ {
		if s.state == inString {
			for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
				i++
			}
			if i == len(b) {
				break
			}
		}
		if !s.step(b[i]) {
			return i
		}
	}
	return len(b)
}

// ends reports whether the text may end here.
func (s *jsonScan) ends() bool {
	s.endNumber()
	return s.state == afterAll
}

func (s *jsonScan) step(c byte) bool {
	if s.deep {
		return true
	}
	if s.state >= afterMinus && s.number(c) {
		return true
	}
	if !s.endNumber() {
		return false
	}
	switch s.state {
	case inString, inEscape, inHex:
		return s.text(c)
	case inLiteral:
		if s.left[0] != c {
			return false
		}
		if s.left = s.left[1:]; s.left == "" {
			s.end()
		}
		return true
	}
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || s.structure(c)
}

func (s *jsonScan) text(c byte) bool {
	switch {
	case s.state == inHex:
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
		if s.hex--; s.hex == 0 {
			s.state = inString
		}
	case s.state == inEscape && c == 'u':
		s.state, s.hex = inHex, 4
	case s.state == inEscape:
		if strings.IndexByte(`"\/bfnrt`, c) < 0 {
			return false
		}
		s.state = inString
	case c == '\\':
		s.state = inEscape
	case c == '"' && s.key:
		s.state, s.key = aColon, false
	case c == '"':
		s.end()
	default:
		return c >= ' '
	}
	return true
}

// number reports whether the number at hand goes on with c.
func (s *jsonScan) number(c byte) bool {
	digit := c >= '0' && c <= '9'
	switch {
	case s.state == afterMinus && c == '0':
		s.state = afterZero
	case (s.state == afterMinus || s.state == inDigits) && digit:
		s.state = inDigits
	case (s.state == afterZero || s.state == inDigits) && c == '.':
		s.state = afterPoint
	case (s.state == afterPoint || s.state == inFraction) && digit:
		s.state = inFraction
	case (s.state == afterZero || s.state == inDigits || s.state == inFraction) && c|0x20 == 'e':
		s.state = afterE
	case s.state == afterE && (c == '+' || c == '-'):
		s.state = afterSign
	case s.state >= afterE && digit:
		s.state = inExponent
	default:
		return false
	}
	return true
}

// endNumber ends the number at hand, if there is one, and reports whether it may.
func (s *jsonScan) endNumber() bool {
	switch s.state {
	case afterMinus, afterPoint, afterE, afterSign:
		return false
	case afterZero, inDigits, inFraction, inExponent:
		s.end()
	}
	return true
}

// end ends a value.
func (s *jsonScan) end() {
	switch {
	case len(s.open) == 0:
		s.state = afterAll
	case s.open[len(s.open)-1] == '{':
		s.state = afterMember
	default:
		s.state = afterItem
	}
}

func (s *jsonScan) structure(c byte) bool {
	switch {
	case s.state == aValue || s.state == aFirstItem && c != ']':
		return s.value(c)
	case (s.state == aFirstKey || s.state == aKey) && c == '"':
		s.state, s.key = inString, true
	case s.state == aColon && c == ':':
		s.state = aValue
	case s.state == afterMember && c == ',':
		s.state = aKey
	case s.state == afterItem && c == ',':
		s.state = aValue
	case (s.state == afterMember || s.state == aFirstKey) && c == '}', (s.state == afterItem || s.state == aFirstItem) && c == ']':
		s.open = s.open[:len(s.open)-1]
		s.end()
	default:
		return false
	}
	return true
}

func (s *jsonScan) value(c byte) bool {
	switch {
	case c == '{' || c == '[':
		s.open = append(s.open, c)
		if s.state = aFirstItem; c == '{' {
			s.state = aFirstKey
		}
		s.deep = len(s.open) > maxJSONDepth
	case c == '"':
		s.state = inString
	case c == '-':
		s.state = afterMinus
	case c == '0':
		s.state = afterZero
	case c >= '1' && c <= '9':
		s.state = inDigits
	case c == 't':
		s.state, s.left = inLiteral, "rue"
	case c == 'f':
		s.state, s.left = inLiteral, "alse"
	case c == 'n':
		s.state, s.left = inLiteral, "ull"
	default:
		return false
	}
	return true
}

// isJSON reports whether bytes are one JSON text.
func (in *instance) isJSON(b []byte) bool {
	var s jsonScan
	ok := true
	done := in.vm.inPieces(len(b), func(from, to int) {
		ok = ok && s.scan(b[from:to]) == to-from
	})
	return done && ok && !s.deep && s.ends()
}
