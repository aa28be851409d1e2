package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
	"github.com/toolcell/toolcell/internal/shorten"
)

// A fit checks arguments by a schema of schemaOf where encoding/json is lenient: it
// accepts Name for name, duplicate names, null for anything, and invalid text. What a
// person approves must be what the function gets.
type fit struct {
	kind     string          // empty if null is allowed or the decoder decides
	fields   map[string]*fit // of an object
	required []string
	closed   bool // it has no other fields
	others   *fit // the values of these, or the items of an array
}

func newFit(schema json.RawMessage) *fit {
	root := gjson.ParseBytes(schema)
	refs := map[string]*fit{}
	defs := root.Get("$defs")
	// All names first, since definitions may be recursive.
	defs.ForEach(func(name, _ gjson.Result) bool {
		refs[name.String()] = &fit{}
		return true
	})
	defs.ForEach(func(name, s gjson.Result) bool {
		refs[name.String()].read(s, refs)
		return true
	})
	f := &fit{}
	if name, ok := strings.CutPrefix(root.Get("$ref").Str, refPrefix); ok && refs[name] != nil {
		return refs[name]
	}
	f.read(root, refs)
	return f
}

const refPrefix = "#/$defs/"

func (f *fit) read(s gjson.Result, refs map[string]*fit) {
	sub := func(s gjson.Result) *fit {
		if name, ok := strings.CutPrefix(s.Get("$ref").Str, refPrefix); ok && refs[name] != nil {
			return refs[name]
		}
		of := &fit{}
		of.read(s, refs)
		return of
	}
	if f.kind = s.Get("type").Str; f.kind == "null" {
		f.kind = ""
	}
	switch f.kind {
	case "array":
		f.others = sub(s.Get("items"))
	case "object":
		f.fields = map[string]*fit{}
		s.Get("properties").ForEach(func(name, s gjson.Result) bool {
			f.fields[name.String()] = sub(s)
			return true
		})
		for _, name := range s.Get("required").Array() {
			f.required = append(f.required, name.Str)
		}
		others := s.Get("additionalProperties")
		// The decoder checks the keys of maps, which have a pattern.
		f.closed = others.Type == gjson.False && !s.Get("patternProperties").Exists()
		f.others = sub(others)
	}
}

// check checks arguments.
func (f *fit) check(args json.RawMessage) error {
	if !gjson.ValidBytes(args) {
		return errors.New("not valid JSON")
	}
	if loneSurrogate(args) {
		return errors.New("text with half of a character (a surrogate without its other half)")
	}
	return f.value(gjson.ParseBytes(args), "", 0)
}

// maxPath bounds a path in an error. Longer ones are not built, since a key of megabytes
// would be copied for each member.
const maxPath = 200

// value checks the value at a path. The decoder checks types.
func (f *fit) value(v gjson.Result, path string, depth int) (err error) {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("nested more than %d deep", maxDepth)
	case v.Type == gjson.Null && f.kind != "":
		return fmt.Errorf("%s: cannot be null; it has to be %s", at(path), article(f.kind))
	case v.IsObject() && f.kind == "object":
		return f.object(v, path, depth)
	case v.IsArray() && f.kind == "array":
		i := 0
		v.ForEach(func(_, item gjson.Result) bool {
			// The decoder checks texts and numbers, of which there may be millions.
			if item.Type == gjson.Null || item.Type == gjson.JSON {
				err = f.others.value(item, shorten.Head(path, maxPath)+"["+strconv.Itoa(i)+"]", depth+1)
			}
			i++
			return err == nil
		})
	}
	return err
}

func (f *fit) object(v gjson.Result, path string, depth int) (err error) {
	within := func(name string) string {
		return strings.TrimPrefix(shorten.Head(path, maxPath)+"."+shorten.Head(name, maxPath), ".")
	}
	seen := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		of, known := f.fields[name]
		switch {
		case seen[name]:
			err = fmt.Errorf("%s: given more than once", at(within(name)))
		case !known && f.closed:
			err = fmt.Errorf("unknown field %q", shorten.Head(within(name), maxPath))
		case !known:
			err = f.others.value(value, within(name), depth+1)
		case value.Type == gjson.Null && !slices.Contains(f.required, name): // as if it were left out
		default:
			err = of.value(value, within(name), depth+1)
		}
		seen[name] = true
		return err == nil
	})
	for _, name := range f.required {
		if err == nil && !seen[name] {
			err = fmt.Errorf("%s: required, and missing", at(within(name)))
		}
	}
	return err
}

func at(path string) string {
	if path == "" {
		return "the arguments"
	}
	return shorten.Head(path, maxPath)
}

func article(kind string) string {
	switch kind {
	case "integer", "object", "array":
		return "an " + kind
	case "boolean":
		return "true or false"
	}
	return "a " + kind
}

// loneSurrogate reports whether valid JSON has the escape of half a character,
// which encoding/json replaces.
func loneSurrogate(b []byte) bool {
	half := func(b []byte) (r rune) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0
		}
		for _, c := range b[2:6] {
			r = r<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20)&15)
		}
		return r
	}
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return false
		}
		b = b[i:]
		r := half(b)
		switch {
		case !utf16.IsSurrogate(r):
			b = b[2:]
		case utf16.DecodeRune(r, half(b[6:])) == '\uFFFD':
			return true
		default:
			b = b[12:]
		}
	}
}
