package codemode

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// maxVariants is how many alternatives of an object are declared.
const maxVariants = 8

// variants returns the properties of each alternative of an object: its own, those of
// allOf and of $ref, and those of each schema of anyOf and oneOf.
func (t *typer) variants(s gjson.Result, depth int) [][]field {
	if t.read += len(s.Raw); depth > maxDepth || t.full() || !s.IsObject() {
		return [][]field{nil}
	}
	all := [][]field{t.fields(s, depth)}
	if ref := s.Get("$ref"); ref.Type == gjson.String {
		if target, done, ok := t.follow(ref.Str); ok {
			all = t.combined(all, t.variants(target, depth+1))
			done()
		}
	}
	for _, part := range s.Get("allOf").Array() {
		all = t.combined(all, t.variants(part, depth+1))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var some [][]field
		for _, part := range s.Get(key).Array() {
			some = append(some, t.variants(part, depth+1)...)
		}
		if len(some) > maxVariants {
			some = [][]field{either(some)}
		}
		if len(some) > 0 {
			all = distinct(t.combined(all, some))
		}
	}
	// The schema may require properties of its parts.
	required := requiredOf(s)
	for _, fields := range all {
		for i := range fields {
			fields[i].optional = fields[i].optional && !required[fields[i].name]
		}
	}
	return all
}

// mergeCost is what merging a property costs of maxRead.
const mergeCost = 16

// combined returns each alternative of a with each of b.
func (t *typer) combined(a, b [][]field) (all [][]field) {
	for _, x := range a {
		for _, y := range b {
			if t.read += mergeCost * (1 + len(x) + len(y)); t.full() {
				return all
			}
			merged := slices.Clone(x)
			for _, f := range y {
				i := slices.IndexFunc(merged, func(m field) bool { return m.name == f.name })
				if i < 0 {
					merged = append(merged, f)
					continue
				}
				m := &merged[i]
				m.optional = m.optional && f.optional
				if m.about == "" {
					m.about = f.about
				}
				if f.kind != "" && !f.unknown { // the alternative is narrower
					m.kind, m.unknown = f.kind, false
				}
			}
			if all = append(all, merged); len(all) == maxVariants*maxVariants {
				return all
			}
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
