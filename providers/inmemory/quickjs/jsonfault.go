//go:build !(386 || arm || s390x)

package quickjs

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// hostJSONFault says why a text is no JSON, in node's words and with the
// position in UTF-16 units. Undefined means that it is.
func (in *instance) hostJSONFault(_ value, args []value) value {
	text, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	if s := jsonFault(text); s != "" {
		return in.vm.newString(s)
	}
	return undefined
}

// A jsonPhrase is what V8 says where Go's decoder says something. A phrase that
// ends in " in JSON" gets the position.
var jsonPhrases = []struct{ ours, theirs string }{
	{"after object key:value pair", "Expected ',' or '}' after property value in JSON"},
	{"after object key", "Expected ':' after property name in JSON"},
	{"after array element", "Expected ',' or ']' after array element in JSON"},
	{"in string literal", "Bad control character in string literal in JSON"},
	{"in string escape code", "Bad escaped character in JSON"},
	{"in \\u hexadecimal character escape", "Bad Unicode escape in JSON"},
	{"after top-level value", "Unexpected non-whitespace character after JSON"},
	{"after decimal point in numeric literal", "Unterminated fractional number in JSON"},
	{"in exponent of numeric literal", "Exponent part is missing a number in JSON"},
	{"in numeric literal", "No number after minus sign in JSON"},
}

func jsonFault(text string) string {
	switch text {
	case "undefined", "NaN", "Infinity", "[object Object]":
		return `"` + text + `" is not valid JSON`
	}
	at, message, ok := jsonSyntax(text)
	if !ok {
		return ""
	}
	ended := at >= len(text)
	if ended {
		// Whatever comes next would be wrong: what is wrong with it tells
		// what is missing.
		_, message, _ = jsonSyntax(text + "\x01")
		at = len(text)
	}
	where := " at position " + strconv.Itoa(utf16Length(text[:at]))
	switch {
	case strings.HasSuffix(message, "looking for beginning of object key string"):
		if !ended && strings.HasSuffix(strings.TrimRight(text[:at], " \t\r\n"), ",") {
			return "Expected double-quoted property name in JSON" + where
		}
		return "Expected property name or '}' in JSON" + where
	case ended && strings.HasSuffix(message, "in string literal"):
		return "Unterminated string in JSON" + where
	case !ended && at > 0 && text[at-1] == '0' && text[at] >= '0' && text[at] <= '9':
		return "Unexpected number in JSON" + where
	}
	for _, p := range jsonPhrases {
		if strings.HasSuffix(message, p.ours) {
			return p.theirs + where
		}
	}
	if ended {
		return "Unexpected end of JSON input"
	}
	_, n := utf8.DecodeRuneInString(text[at:])
	return "Unexpected token '" + text[at:at+n] + "', " + excerpt(text, at) + " is not valid JSON"
}

// jsonSyntax returns the first fault of a text and the byte that it is at.
func jsonSyntax(text string) (at int, message string, faulty bool) {
	var v json.RawMessage
	var fault *json.SyntaxError
	if err := json.Unmarshal([]byte(text), &v); !errors.As(err, &fault) {
		return 0, "", false
	}
	if message = fault.Error(); message == "exceeded max depth" {
		return 0, "", false // of Go's decoder, not of JSON
	}
	at = int(fault.Offset) - 1
	if message == "unexpected end of JSON input" || at == len(text)-1 && text[at] != ' ' && strings.HasPrefix(message, "invalid character ' '") {
		return len(text), message, true
	}
	for at = max(at, 0); at > 0 && at < len(text) && !utf8.RuneStart(text[at]); {
		at--
	}
	return at, message, true
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
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
