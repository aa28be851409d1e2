package codemode

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
	"github.com/toolcell/toolcell/internal/ansi"
)

const (
	// maxDepth is how deep a schema is followed, maxType how many bytes of types
	// are made of one, and maxRead how many bytes of it are read for that, each
	// as often as it is. What is beyond is not known.
	maxDepth = 12
	maxType  = 8 << 10
	maxRead  = 1 << 20
)

// A typer makes a type of a schema.
type typer struct {
	spelling
	root gjson.Result
	refs []string                           // that are being followed
	defs map[string]map[string]gjson.Result // by name and the key that they are below, once one is followed
	size int
	read int
}

// A spelling is how a language writes types.
type spelling struct {
	unknown, never, null, boolean, number, integer, text string

	union, intersection string // between types; an empty intersection: none
	list                func(item string) string
	record              func(value string) string
	object              func(fields []field) string // nil: a record
	literal             func(values []string) string
}

// A field is a property of an object.
type field struct {
	name, kind, about string
	optional          bool
}

func newTyper(sp spelling, schema json.RawMessage) *typer {
	return &typer{spelling: sp, root: gjson.ParseBytes(schema), defs: map[string]map[string]gjson.Result{}}
}

// typed returns the type of a schema, and whether it could be told.
func (sp spelling) typed(schema json.RawMessage) string {
	t := newTyper(sp, schema)
	if s := t.of(t.root, 0); !t.full() && len(s) <= maxType {
		return s
	}
	return sp.unknown
}

// fields returns the properties of a schema of an object.
func (sp spelling) fields(schema json.RawMessage) []field {
	t := newTyper(sp, schema)
	list := t.fields(t.root, 0)
	if t.full() {
		return nil
	}
	return list
}

// full reports whether the schema is too large to be told.
func (t *typer) full() bool { return t.size > maxType || t.read > maxRead }

func (t *typer) of(s gjson.Result, depth int) (kind string) {
	defer func() { t.size += len(kind) }()
	if t.read += len(s.Raw); depth > maxDepth || t.full() {
		return t.unknown
	}
	switch {
	case s.Type == gjson.False:
		return t.never
	case !s.IsObject():
		return t.unknown
	}
	if ref := s.Get("$ref"); ref.Type == gjson.String {
		return t.ref(ref.Str, depth)
	}
	if c := s.Get("const"); c.Exists() {
		return t.values([]gjson.Result{c})
	}
	if e := s.Get("enum"); e.IsArray() {
		return t.values(e.Array())
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if of := s.Get(key); of.IsArray() {
			return t.join(of.Array(), t.union, depth)
		}
	}
	if of := s.Get("allOf"); of.IsArray() {
		if t.intersection == "" {
			return t.unknown
		}
		return t.join(of.Array(), t.intersection, depth)
	}
	if kind := s.Get("type"); kind.IsArray() {
		return t.joined(t.each(kind.Array(), s, depth), t.union)
	}
	return t.simple(s.Get("type").Str, s, depth)
}

// each returns the types that s has by its list of kinds. One that is there again
// says nothing new, and would be read again.
func (t *typer) each(kinds []gjson.Result, s gjson.Result, depth int) (all []string) {
	seen := map[string]bool{}
	for _, k := range kinds {
		if !seen[k.Str] && !t.full() {
			seen[k.Str] = true
			t.read += len(s.Raw)
			all = append(all, t.simple(k.Str, s, depth))
		}
	}
	return all
}

// ref follows a reference within the schema.
func (t *typer) ref(ref string, depth int) string {
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	in := "$defs"
	if !ok {
		if name, ok = strings.CutPrefix(ref, "#/definitions/"); !ok {
			return t.unknown
		}
		in = "definitions"
	}
	for _, r := range t.refs {
		if r == ref {
			return t.unknown // recursive
		}
	}
	t.refs = append(t.refs, ref)
	defer func() { t.refs = t.refs[:len(t.refs)-1] }()
	return t.of(t.below(in)[name], depth+1)
}

// below returns what a key of the schema has, by name.
func (t *typer) below(key string) map[string]gjson.Result {
	if all, ok := t.defs[key]; ok {
		return all
	}
	all := map[string]gjson.Result{}
	t.root.Get(key).ForEach(func(k, v gjson.Result) bool {
		if _, ok := all[k.Str]; !ok {
			all[k.Str] = v
		}
		return true
	})
	t.defs[key] = all
	return all
}

func (t *typer) simple(kind string, s gjson.Result, depth int) string {
	switch kind {
	case "string":
		return t.text
	case "number":
		return t.number
	case "integer":
		return t.integer
	case "boolean":
		return t.boolean
	case "null":
		return t.null
	case "array":
		item := t.unknown
		if i := s.Get("items"); i.Exists() {
			item = t.of(i, depth+1)
		}
		return t.list(item)
	case "object", "":
		if props := s.Get("properties"); props.IsObject() && t.object != nil {
			if list := t.fields(s, depth); len(list) > 0 {
				return t.object(list)
			}
		}
		if kind == "" {
			return t.unknown
		}
		value := t.unknown
		if a := s.Get("additionalProperties"); a.IsObject() {
			value = t.of(a, depth+1)
		}
		return t.record(value)
	}
	return t.unknown
}

func (t *typer) fields(s gjson.Result, depth int) (list []field) {
	required := map[string]bool{}
	for _, r := range s.Get("required").Array() {
		required[r.Str] = true
	}
	seen := map[string]bool{}
	s.Get("properties").ForEach(func(k, v gjson.Result) bool {
		if seen[k.Str] {
			return true
		}
		seen[k.Str] = true
		f := field{name: k.Str, kind: t.of(v, depth+1), optional: !required[k.Str], about: comment(v.Get("description").Str, 200)}
		t.size += len(f.name) + len(f.about)
		list = append(list, f)
		return !t.full()
	})
	return list
}

func (t *typer) join(of []gjson.Result, by string, depth int) string {
	var all []string
	for _, s := range of {
		if all = append(all, t.of(s, depth+1)); t.full() {
			break
		}
	}
	return t.joined(all, by)
}

// joined joins types, each once. What is unknown swallows the others.
func (t *typer) joined(all []string, by string) string {
	var some []string
	seen := map[string]bool{}
	for _, k := range all {
		if k == t.unknown {
			return t.unknown
		}
		if !seen[k] {
			seen[k] = true
			some = append(some, k)
		}
	}
	switch len(some) {
	case 0:
		return t.unknown
	case 1:
		return some[0]
	}
	return "(" + strings.Join(some, by) + ")"
}

// values returns the type that has the values, which are simple ones.
func (t *typer) values(list []gjson.Result) string {
	var all []string
	for _, v := range list {
		switch v.Type {
		case gjson.String:
			all = append(all, quote(v.Str))
		case gjson.Number:
			var n json.Number
			if json.Unmarshal([]byte(v.Raw), &n) != nil {
				return t.unknown
			}
			all = append(all, n.String())
		case gjson.True:
			all = append(all, "true")
		case gjson.False:
			all = append(all, "false")
		case gjson.Null:
			all = append(all, "null")
		default:
			return t.unknown
		}
	}
	if len(all) == 0 {
		return t.unknown
	}
	return t.literal(all)
}

// quote returns a string literal of TypeScript and Python. It ends no line, and
// no fence around it.
func quote(s string) string {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return `""`
	}
	var out strings.Builder
	for _, r := range string(b) {
		switch {
		case r > 0xFFFF && ansi.Invisible(r): // a pair, as JSON has it
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		case r == '`' || r == 0x7F || r == 0xFEFF || ansi.Invisible(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// comment returns text as one line of at most about n bytes for a comment, which
// it does not end, and no fence around it either.
func comment(text string, n int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 4*n)], "")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '`':
			return '\''
		case r < ' ' || r == 0x7F || r == 0x2028 || r == 0x2029 || r == 0xFEFF || ansi.Invisible(r):
			return ' '
		}
		return r
	}, text)
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "*/", "* /")
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "") + "..."
	}
	return text
}
