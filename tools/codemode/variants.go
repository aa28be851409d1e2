package codemode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// properties returns the properties of the objects that a schema allows: its own, those of
// $ref and allOf, and those of the alternatives of anyOf and oneOf.
func (sp spelling) properties(schema json.RawMessage) []field {
	t := newTyper(sp, schema)
	if list := t.properties(t.root, 0); !t.full() {
		return list
	}
	return nil
}

func (t *typer) properties(s gjson.Result, depth int) []field {
	if t.read += len(s.Raw); depth > maxDepth || t.full() || !s.IsObject() {
		return nil
	}
	list := t.fields(s, depth)
	if target, done, ok := t.follow(s.Get("$ref").Str); ok {
		list = t.merged(list, t.properties(target, depth+1))
		done()
	}
	for _, part := range s.Get("allOf").Array() {
		list = t.merged(list, t.properties(part, depth+1))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var all [][]field
		for _, part := range s.Get(key).Array() {
			all = append(all, t.properties(part, depth+1))
		}
		list = t.merged(list, either(all))
	}
	return list
}

// mergeCost is what merging a property costs of maxRead.
const mergeCost = 16

// merged returns the properties of both a and b. Those of a decide.
func (t *typer) merged(a, b []field) []field {
	if t.read += mergeCost * len(b) * (1 + len(a)); t.full() {
		return nil
	}
	all := slices.Clone(a)
	for _, f := range b {
		if i := slices.IndexFunc(all, func(m field) bool { return m.name == f.name }); i < 0 {
			all = append(all, f)
		} else {
			all[i].optional = all[i].optional && f.optional
		}
	}
	return all
}

// either returns the properties that any alternative has; those that one lacks are optional.
func either(all [][]field) (list []field) {
	count := map[string]int{}
	for _, f := range slices.Concat(all...) {
		count[f.name]++
		i := slices.IndexFunc(list, func(o field) bool { return o.name == f.name })
		if i < 0 {
			list = append(list, f)
			continue
		}
		list[i].optional = list[i].optional || f.optional
		if !strings.Contains(list[i].kind, f.kind) {
			list[i].kind += " | " + f.kind
		}
	}
	for i := range list {
		list[i].optional = list[i].optional || count[list[i].name] < len(all)
	}
	return list
}
