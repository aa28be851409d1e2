// Package pyvalue holds the rules by which a Python value becomes a JSON value
// of a Result. All providers that run Python embed the same source.
package pyvalue

import _ "embed"

// Source defines the function to_json(value), which returns JSON text, or the
// empty string for a value that JSON cannot carry unchanged. It imports nothing
// but what json.encoder is made of, when it is called.
//
//go:embed value.py
var Source string
