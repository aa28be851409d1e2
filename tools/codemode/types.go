package codemode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
	"github.com/toolcell/toolcell/internal/ansi"
)

const (
	// The bounds of a schema; a type beyond them is unknown.
	maxDepth = 12
	maxType  = 8 << 10 // bytes of a type
	maxRead  = 1 << 20 // bytes of schemas, each as often as it is read
)

// A typer translates a schema into a type.
type typer struct {
	spelling
	root gjson.Result
	refs []string                           // that are being followed
	defs map[string]map[string]gjson.Result // by name and the key that they are below, once one is followed
	read int
}

// A spelling is how a language writes types.
type spelling struct {
	unknown, never string
	names          map[string]string // of simple types

	union, intersection string // between types; an empty intersection: none
	list                func(item string) string
	tuple               func(items []string) string // nil: a list of any of them
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

// typed returns the type of a schema.
func (sp spelling) typed(schema json.RawMessage) string {
	t := newTyper(sp, schema)
	if s := t.of(t.root, 0); !t.full() && len(s) <= maxType {
		return s
	}
	return sp.unknown
}

// arguments returns the type of the arguments that a schema allows.
func (sp spelling) arguments(schema json.RawMessage) string {
	t := newTyper(sp, schema)
	if s := t.of(t.root, 0); !t.full() {
		return s
	}
	return sp.unknown
}

// full reports whether the schema is too large to be read.
func (t *typer) full() bool { return t.read > maxRead }

func (t *typer) of(s gjson.Result, depth int) string {
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
	if s.Get("nullable").Type == gjson.True && s.Get("type").Str != "null" {
		return t.joined([]string{t.plain(s, depth), t.names["null"]}, t.union)
	}
	return t.plain(s, depth)
}

// plain is of, but for a reference and nullable.
func (t *typer) plain(s gjson.Result, depth int) string {
	if c := s.Get("const"); c.Exists() {
		return t.values([]gjson.Result{c})
	}
	if e := s.Get("enum"); e.IsArray() {
		return t.values(e.Array())
	}
	if kinds := t.parts(s, depth); len(kinds) > 1 && t.intersection == "" {
		return t.unknown
	} else if len(kinds) > 0 {
		return t.joined(kinds, t.intersection)
	}
	if kind := s.Get("type"); kind.IsArray() {
		var all []string
		for _, k := range kind.Array() {
			if t.read += len(s.Raw); t.full() {
				return t.unknown
			}
			all = append(all, t.simple(k.Str, s, depth))
		}
		return t.joined(all, t.union)
	}
	return t.simple(s.Get("type").Str, s, depth)
}

// parts returns the types of the parts of a schema that say something: its own properties
// and those of anyOf, oneOf and allOf.
func (t *typer) parts(s gjson.Result, depth int) (kinds []string) {
	for _, of := range []struct{ key, by string }{{"anyOf", t.union}, {"oneOf", t.union}, {"allOf", t.intersection}} {
		if list := s.Get(of.key); list.IsArray() && of.by != "" {
			kinds = append(kinds, t.join(list.Array(), of.by, depth))
		}
	}
	if len(kinds) > 0 && t.object != nil && s.Get("properties").IsObject() {
		kinds = append([]string{t.simple("", s, depth)}, kinds...)
	}
	return slices.DeleteFunc(kinds, func(k string) bool { return k == t.unknown })
}

// ref returns the type of a reference within the schema.
func (t *typer) ref(ref string, depth int) string {
	target, done, ok := t.follow(ref)
	if !ok {
		return t.unknown
	}
	defer done()
	return t.of(target, depth+1)
}

// follow returns what a reference within the schema names, until done. It is not followed
// if it is recursive.
func (t *typer) follow(ref string) (target gjson.Result, done func(), ok bool) {
	if slices.Contains(t.refs, ref) {
		return target, nil, false
	}
	for _, in := range []string{"$defs", "definitions", "properties"} {
		if name, found := strings.CutPrefix(ref, "#/"+in+"/"); found {
			target, ok = t.below(in)[name]
		}
	}
	if ok {
		t.refs = append(t.refs, ref)
	}
	return target, func() { t.refs = t.refs[:len(t.refs)-1] }, ok
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
	if name := t.names[kind]; name != "" {
		return name
	}
	switch kind {
	case "array":
		return t.array(s, depth)
	case "object", "":
		if props := s.Get("properties"); props.IsObject() && t.object != nil {
			if list := t.fields(s, depth); len(list) > 0 {
				return t.object(list)
			}
		}
		if kind == "object" {
			return t.record(t.member(s, depth))
		}
	}
	return t.unknown
}

// array returns the type of a list, or of a tuple.
func (t *typer) array(s gjson.Result, depth int) string {
	items := s.Get("prefixItems")
	if !items.IsArray() {
		items = s.Get("items")
	}
	if !items.IsArray() {
		if !items.IsObject() {
			return t.list(t.unknown)
		}
		return t.list(t.of(items, depth+1))
	}
	var kinds []string
	for _, i := range items.Array() {
		if kinds = append(kinds, t.of(i, depth+1)); t.full() || len(kinds) > 20 {
			return t.list(t.unknown)
		}
	}
	if t.tuple == nil || len(kinds) == 0 {
		return t.list(t.joined(kinds, t.union))
	}
	return t.tuple(kinds)
}

// member returns the type of the members of an object without properties.
func (t *typer) member(s gjson.Result, depth int) string {
	if a := s.Get("additionalProperties"); a.IsObject() {
		return t.of(a, depth+1)
	}
	var all []gjson.Result
	if p := s.Get("patternProperties"); p.IsObject() {
		p.ForEach(func(_, v gjson.Result) bool { all = append(all, v); return len(all) < 20 })
	}
	return t.join(all, t.union, depth)
}

func (t *typer) fields(s gjson.Result, depth int) (list []field) {
	props := s.Get("properties")
	if !props.IsObject() {
		return nil
	}
	required := map[string]bool{}
	for _, r := range s.Get("required").Array() {
		required[r.Str] = true
	}
	seen := map[string]bool{}
	props.ForEach(func(k, v gjson.Result) bool {
		if seen[k.Str] {
			return true
		}
		seen[k.Str] = true
		list = append(list, field{name: k.Str, kind: t.of(v, depth+1), optional: !required[k.Str], about: comment(v.Get("description").Str, 200)})
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

// joined joins types, each once. An unknown type makes the whole unknown.
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
		case gjson.JSON:
			return t.unknown
		default:
			all = append(all, v.Raw)
		}
	}
	if len(all) == 0 {
		return t.unknown
	}
	return t.literal(all)
}

// quote returns a string literal of TypeScript and Python, which ends neither a line nor
// the fence around it.
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

// comment returns text as one line of about n bytes at most, which ends neither a comment
// nor the fence around it.
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
