package science

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// exported are functions that the host calls, beside those that the module exports.
var exported = []string{"PyErr_SetInterruptEx", "PyObject_CallNoArgs"}

// called are functions that the changes call.
var called = []string{"npy_set_floatstatus_overflow", "npy_set_floatstatus_invalid", "npy_set_floatstatus_divbyzero",
	"PyArray_GenericBinaryFunction"}

// patch gives a module the changes of integers, and the exports.
func patch(source []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				panic(r)
			}
		}
	}()
	list := sections(source)
	p := &patcher{replacements: replacements(), prefixes: prefixes()}
	p.names = functionNames(list, func(name string) bool {
		_, changed := p.replacements[name]
		_, prefixed := p.prefixes[name]
		return changed || prefixed || slices.Contains(exported, name) || slices.Contains(called, name)
	})
	for _, name := range slices.Concat(exported, called, slices.Collect(maps.Keys(p.replacements)), slices.Collect(maps.Keys(p.prefixes))) {
		if _, ok := p.names[name]; !ok {
			return nil, fmt.Errorf("%w: no function %s", ErrModule, name)
		}
	}
	first := imported(list)
	for i, s := range list {
		switch s.id {
		case sectionExport:
			list[i].data = withExports(s.data, exported, p.names)
		case sectionCode:
			list[i].data = withBodies(s.data, first, p.names, p.change)
		}
	}
	return write(list), nil
}

type patcher struct {
	names        map[string]int
	replacements map[string][]replacement
	prefixes     map[string]prefix
}

// A replacement is of bytes in a function, which occur so many times.
type replacement struct {
	old, new string // hexadecimal
	times    int
}

// change changes a function.
func (p *patcher) change(name string, body []byte) []byte {
	for _, r := range p.replacements[name] {
		old, new := unhex(r.old), unhex(r.new)
		if n := bytes.Count(body, old); n != r.times {
			panic(fmt.Errorf("%w: %s has %s %d times, not %d", ErrModule, name, r.old, n, r.times))
		}
		body = bytes.ReplaceAll(body, old, new)
	}
	if prefix, ok := p.prefixes[name]; ok {
		body = p.prefixed(body, prefix)
	}
	return body
}

// prefixed puts code before that of a function.
func (p *patcher) prefixed(body []byte, prefix prefix) []byte {
	in := &part{body}
	groups, locals := in.number(), 0
	declared := in.b
	for range groups {
		locals += in.number()
		in.take(1)
	}
	declared = declared[:len(declared)-len(in.b)]
	a := &assembler{names: p.names, next: prefix.parameters + locals}
	prefix.make(a)
	out := appendNumber(nil, groups+len(a.declared)/2)
	out = append(append(out, declared...), a.declared...)
	return append(append(out, a.code...), in.b...)
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}
