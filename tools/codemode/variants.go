package codemode

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// maxVariants is how many alternatives of an object are declared.
const maxVariants = 8

// variants returns the properties of each alternative of an object: its own, those of
// allOf and of $ref, and those of one schema of anyOf or oneOf.
func (t *typer) variants(s gjson.Result, depth int) (all [][]field) {
	if t.read += len(s.Raw); depth > maxDepth || t.full() || !s.IsObject() {
		return [][]field{nil}
	}
	base := t.fields(s, depth)
	if ref := s.Get("$ref"); ref.Type == gjson.String {
		if target, done, ok := t.follow(ref.Str); ok {
			all = t.variants(target, depth+1)
			if done(); len(base) == 0 {
				return all
			}
			base = t.merged(base, either(all))
		}
	}
	for _, part := range s.Get("allOf").Array() {
		base = t.merged(base, either(t.variants(part, depth+1)))
	}
	all = nil
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, part := range s.Get(key).Array() {
			all = append(all, t.merged(base, either(t.variants(part, depth+1))))
		}
	}
	switch {
	case len(all) == 0:
		all = [][]field{base}
	case len(all) > maxVariants:
		all = [][]field{either(all)}
	}
	// The schema may require properties of its parts.
	required := requiredOf(s)
	for _, fields := range all {
		for i := range fields {
			fields[i].optional = fields[i].optional && !required[fields[i].name]
		}
	}
	return distinct(all)
}

// mergeCost is what merging a property costs of maxRead.
const mergeCost = 16

// merged returns the properties of both a and b.
func (t *typer) merged(a, b []field) []field {
	if t.read += mergeCost * (1 + len(a) + len(b)); t.full() {
		return nil
	}
	all := slices.Clone(a)
	for _, f := range b {
		i := slices.IndexFunc(all, func(m field) bool { return m.name == f.name })
		if i < 0 {
			all = append(all, f)
			continue
		}
		m := &all[i]
		m.optional, m.about = m.optional && f.optional, cmp.Or(m.about, f.about)
		if f.kind != "" && !f.unknown { // b is narrower
			m.kind, m.unknown = f.kind, false
		}
	}
	return all
}

// distinct returns the alternatives that differ.
func distinct(all [][]field) (some [][]field) {
	for _, fields := range all {
		if !slices.ContainsFunc(some, func(o []field) bool { return slices.Equal(o, fields) }) {
			some = append(some, fields)
		}
	}
	return some
}

// either returns the properties that any alternative has; those that one lacks are optional.
func either(all [][]field) (list []field) {
	count := map[string]int{}
	for _, fields := range all {
		for _, f := range fields {
			count[f.name]++
			i := slices.IndexFunc(list, func(o field) bool { return o.name == f.name })
			if i < 0 {
				list = append(list, f)
				continue
			}
			list[i].optional = list[i].optional || f.optional
			if list[i].kind != f.kind && !strings.Contains(list[i].kind, f.kind) {
				list[i].kind += " | " + f.kind
			}
		}
	}
	for i := range list {
		list[i].optional = list[i].optional || count[list[i].name] < len(all)
	}
	return list
}
