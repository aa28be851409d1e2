package quickjs

import (
	"regexp"
	"strings"
	"sync"
)

// A fault is where the engine itself raised an error.
type fault struct {
	native   string             // the built-in that did, "" where it was the program's code
	argument func(i int) string // an argument of it, as V8 shows it in messages
	class    bool               // it is in the constructor of a class
	source   string             // of the code around, "" where that is unknown
	at       int                // the byte of source that the engine names
	better   int                // the byte that node names, or -1
}

// A phrase is a message of the engine that has one counterpart in V8. $ is what is
// in parentheses.
type phrase struct {
	engines *regexp.Regexp
	v8      string
}

// reworded are all of them.
var reworded = sync.OnceValue(func() []phrase {
	return []phrase{
		{regexp.MustCompile(`^cannot (read|set) property '(.*)' of (undefined|null)$`), ""}, // see access
		{regexp.MustCompile(`^'(.*)' is not defined$`), "$1 is not defined"},
		{regexp.MustCompile(`^this is not initialized$`), "Must call super constructor in derived class before accessing 'this' or returning from derived constructor"},
		{regexp.MustCompile(`^(.+) is not initialized$`), "Cannot access '$1' before initialization"},
		{regexp.MustCompile(`^circular reference$`), "Converting circular structure to JSON"},
		{regexp.MustCompile(`^empty array$`), "Reduce of empty array with no initial value"},
		{regexp.MustCompile(`^invalid array length$`), "Invalid array length"},
		{regexp.MustCompile(`^Date value is NaN$`), "Invalid time value"},
		{regexp.MustCompile(`^cannot convert symbol to (string|number)$`), "Cannot convert a Symbol value to a $1"},
		{regexp.MustCompile(`^bigint argument with unary \+$`), "Cannot convert a BigInt value to a number"},
		{regexp.MustCompile(`^could not delete property$`), "Cannot delete property"},
		{regexp.MustCompile(`^object is not extensible$`), "Cannot add property, object is not extensible"},
		{regexp.MustCompile(`^no setter for property$`), "Cannot set property which has only a getter"},
		{regexp.MustCompile(`^invalid 'instanceof' right operand$`), "Right-hand side of 'instanceof' is not callable"},
		{regexp.MustCompile(`^(?:expecting hex digit|malformed UTF-8|invalid character)$`), "URI malformed"}, // of URIError
		{regexp.MustCompile(`^bad normalization form$`), "The normalization form should be one of NFC, NFD, NFKC, NFKD."},
		{regexp.MustCompile(`^unexpected token in expression: ''$`), "Unexpected end of input"},
		{regexp.MustCompile(`^unexpected token in expression: '(.*)'$`), "Unexpected token '$1'"},
		{regexp.MustCompile(`^missing initializer for const variable$`), "Missing initializer in const declaration"},
		{regexp.MustCompile(`^return not in a function$`), "Illegal return statement"},
		{regexp.MustCompile(`^function name expected$`), "Function statements require a function name"},
		{regexp.MustCompile(`^unexpected end of regexp$`), "Invalid regular expression: missing /"},
		{regexp.MustCompile(`^invalid number literal$`), "Invalid or unexpected token"},
		{regexp.MustCompile(`^unexpected end of string$`), "Invalid or unexpected token"},
		{regexp.MustCompile(`^break must be inside loop or switch$`), "Illegal break statement"},
		{regexp.MustCompile(`^stack overflow$`), "Maximum call stack size exceeded"},
	}
})

// reword returns what V8 says where the engine says message. A message that has
// no counterpart, or whose names are not known, stays as it is.
func (f *fault) reword(name, message string) string {
	switch {
	case message == "not a function":
		return f.notAFunction(message)
	case message == "value is not iterable" || strings.HasPrefix(message, "cannot read property 'Symbol.iterator' of "):
		return f.notIterable(message)
	case message == "cannot convert to object":
		if f.native != "" {
			return "Cannot convert undefined or null to object"
		}
		return "Cannot destructure 'undefined' or 'null'"
	case message == "cannot convert bigint to number":
		if f.native != "" {
			return "Cannot convert a BigInt value to a number"
		}
		return "Cannot mix BigInt and other types, use explicit conversions"
	case message == "class constructors must be invoked with 'new'" && f.argument != nil:
		return "Class constructor " + f.argument(-1) + " cannot be invoked without 'new'"
	case message == "must be called with new" && f.native == "Promise":
		return "Promise constructor cannot be invoked without 'new'"
	case message == "must be called with new" && f.native != "":
		return "Constructor " + f.native + " requires 'new'"
	case message == "invalid repeat count" && f.argument != nil:
		return "Invalid count value: " + f.argument(0)
	case message == "invalid code point" && f.argument != nil:
		return "Invalid code point " + f.argument(0)
	case message == "cannot convert to BigInt: not an integer" && f.argument != nil:
		return "The number " + f.argument(0) + " cannot be converted to a BigInt because it is not an integer"
	case message == "invalid bigint literal" && f.native == "BigInt":
		return "Cannot convert " + f.argument(0) + " to a BigInt"
	case message == "invalid number of digits" || message == "radix must be between 2 and 36":
		return map[string]string{"toFixed": "toFixed() digits argument must be between 0 and 100", "toPrecision": "toPrecision() argument must be between 1 and 100",
			"toExponential": "toExponential() argument must be between 0 and 100", "toString": "toString() radix argument must be between 2 and 36"}[f.native]
	case strings.HasSuffix(message, "' is read-only"):
		return f.readOnly(message)
	}
	if name != "URIError" && (message == "invalid character" || message == "malformed UTF-8" || message == "expecting hex digit") {
		return message
	}
	for _, r := range reworded() {
		m := r.engines.FindStringSubmatchIndex(message)
		switch {
		case m == nil:
		case r.v8 == "":
			return f.access(message[m[2]:m[3]], message[m[4]:m[5]], message[m[6]:m[7]])
		default:
			return string(r.engines.ExpandString(nil, strings.ReplaceAll(r.v8, "$1 ", "${1} "), message, m))
		}
	}
	return message
}

// access is the message for reading or setting a property of nothing.
func (f *fault) access(verb, property, of string) string {
	if f.source != "" && f.source[f.at] == '.' {
		f.better = f.at + 1
		if open, ok := opening(f.source, f.at); ok && f.source[open] == '(' && endsExpression(f.source[:open]) {
			f.better = f.at
		}
	}
	if at, ok := assignsAt(f.source, f.at); ok && verb == "set" {
		f.better = at
	}
	if strings.HasPrefix(property, "Symbol.") {
		property = "Symbol(" + property + ")"
	}
	return "Cannot " + verb + " properties of " + of + " (" + map[string]string{"read": "reading", "set": "setting"}[verb] + " '" + property + "')"
}

// takeCallbacks are the built-ins whose argument of that index is a function.
var takeCallbacks = map[string]int{"map": 0, "forEach": 0, "filter": 0, "some": 0, "every": 0, "find": 0, "findIndex": 0, "findLast": 0,
	"findLastIndex": 0, "flatMap": 0, "reduce": 0, "reduceRight": 0, "from": 1}

func (f *fault) notAFunction(message string) string {
	if f.native != "" {
		i, ok := takeCallbacks[f.native]
		switch {
		case f.argument == nil:
		case ok:
			return f.argument(i) + " is not a function"
		case f.native == "Promise":
			return "Promise resolver " + f.argument(0) + " is not a function"
		case f.native == "sort" || f.native == "toSorted":
			return "The comparison function must be either a function or undefined"
		}
		return message
	}
	if f.source == "" {
		return message
	}
	end := f.at
	if open, ok := tailCall(f.source, end); ok {
		end = open
	}
	if f.source[end] != '(' && f.source[end] != '`' {
		return message
	}
	text, last, made, ok := calleeBefore(f.source, end)
	switch {
	case !ok:
		return message
	case made:
		f.better = last
		return text + " is not a constructor"
	}
	f.better = last
	return text + " is not a function"
}

func (f *fault) notIterable(message string) string {
	of := strings.TrimPrefix(message, "cannot read property 'Symbol.iterator' of ")
	if f.native == "" {
		if f.source != "" {
			if text, ok := operandAt(f.source[f.at:]); ok {
				return text + " is not iterable"
			}
		}
		if of == message {
			return "object is not iterable (cannot read property Symbol(Symbol.iterator))"
		}
	} else if of == message && f.argument != nil {
		if of = f.argument(0); strings.IndexFunc(of, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' }) < 0 {
			of = "number " + of
		}
	}
	if of == "null" {
		of = "object null"
	}
	return of + " is not iterable (cannot read property Symbol(Symbol.iterator))"
}

func (f *fault) readOnly(message string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(message, "'"), "' is read-only")
	if f.native == "" && f.source != "" && f.source[f.at] != '.' && f.source[f.at] != '[' {
		if at, ok := assignsAt(f.source, f.at); ok {
			f.better = at
		}
		return "Assignment to constant variable."
	}
	return "Cannot assign to read only property '" + name + "' of object"
}
