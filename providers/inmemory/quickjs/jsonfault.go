//go:build !(386 || arm || s390x)

package quickjs

import (
	"strconv"
	"unicode/utf8"
)

// hostJSONFault says why a text is no JSON, in node's words and with the
// position in UTF-16 units. Undefined means that it is.
func (in *instance) hostJSONFault(_ value, args []value) value {
	text, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	s := in.jsonFault(text)
	if v := in.resume(undefined); isException(v) || s == "" {
		return v
	}
	return in.vm.newString(s)
}

// jsonPhrases are what V8 says where something else should have come. They get
// the position.
var jsonPhrases = map[jsonState]string{
	afterMember: "Expected ',' or '}' after property value in JSON",
	aColon:      "Expected ':' after property name in JSON",
	afterItem:   "Expected ',' or ']' after array element in JSON",
	inString:    "Bad control character in string literal in JSON",
	inEscape:    "Bad escaped character in JSON",
	inHex:       "Bad Unicode escape in JSON",
	afterAll:    "Unexpected non-whitespace character after JSON",
	afterPoint:  "Unterminated fractional number in JSON",
	afterE:      "Exponent part is missing a number in JSON",
	afterSign:   "Exponent part is missing a number in JSON",
	afterMinus:  "No number after minus sign in JSON",
}

// jsonFault returns "" also where that is not known.
func (in *instance) jsonFault(text string) string {
	// What was no text and became one: V8 says so in other words.
	switch text {
	case "undefined", "NaN", "Infinity", "[object Object]":
		return `"` + text + `" is not valid JSON`
	}
	at, units, state, faulty := in.jsonSyntax(text)
	if !faulty {
		return ""
	}
	ended := at == len(text)
	where := " at position " + strconv.Itoa(units)
	switch {
	case state == aKey && !ended:
		return "Expected double-quoted property name in JSON" + where
	case state == aKey || state == aFirstKey:
		return "Expected property name or '}' in JSON" + where
	case ended && state == inString:
		return "Unterminated string in JSON" + where
	case !ended && at > 0 && text[at-1] == '0' && text[at] >= '0' && text[at] <= '9':
		return "Unexpected number in JSON" + where
	case jsonPhrases[state] != "":
		return jsonPhrases[state] + where
	case ended:
		return "Unexpected end of JSON input"
	}
	_, n := utf8.DecodeRuneInString(text[at:])
	return "Unexpected token '" + text[at:at+n] + "', " + excerpt(text, at) + " is not valid JSON"
}

// jsonSyntax returns the first fault of a text: the byte that it is at, how many
// UTF-16 units come before that, and what should have come.
func (in *instance) jsonSyntax(text string) (at, units int, state jsonState, faulty bool) {
	var s jsonScan
	done := in.vm.inPieces(len(text), func(from, to int) {
		if at < from {
			return
		}
		n := s.scan([]byte(text[from:to]))
		at = from + n
		units += utf16Length(text[from:at])
	})
	if !done || s.deep || at == len(text) && s.ends() {
		return 0, 0, 0, false
	}
	return at, units, s.state, true
}

// utf16Length returns the length of the characters that begin in s.
func utf16Length(s string) int {
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0xF0:
			n += 2
		case c < 0x80 || c >= 0xC0:
			n++
		}
	}
	return n
}

// excerpt quotes what is around a position, as node does.
func excerpt(text string, at int) string {
	const around, whole = 10, 40
	if len(text) <= whole {
		return `"` + text + `"`
	}
	from, to := max(0, at-around), min(len(text), at+around)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	s := `"` + text[from:to] + `"`
	if from > 0 {
		s = "..." + s
	}
	if to < len(text) {
		s += "..."
	}
	return s
}
