// Package jsvalue holds the rules by which a JavaScript value becomes a JSON
// value of a Result. The providers that run JavaScript put the same source into
// their drivers.
package jsvalue

import (
	_ "embed"
	"strings"
)

// source is an expression: a function of a value, and of the prototypes of
// objects and arrays where those are of another realm. It returns JSON text, at
// most 1 MiB of it and nested at most 100 deep, or the empty string for a value
// that JSON does not give back deeply equal.
//
//go:embed value.js
var source string

// mark is where a driver wants it.
const mark = "__JSVALUE__"

// Into puts the function into a driver's source, in place of __JSVALUE__.
func Into(driver string) string {
	return strings.Replace(driver, mark, strings.TrimSuffix(source, "\n"), 1)
}
