package science

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// patch gives a module the changes of integers, and exports functions that the host calls.
func patch(source []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				panic(r)
			}
		}
	}()
	return readChanges(changesText).apply(source, "PyErr_SetInterruptEx", "PyObject_CallNoArgs"), nil
}

// apply changes a module, and exports functions. It panics with an error where the module is
// not the expected one.
func (c *changes) apply(source []byte, exported ...string) []byte {
	wanted := slices.Concat(exported, c.called, slices.Collect(maps.Keys(c.replaced)), slices.Collect(maps.Keys(c.before)))
	names := map[string]int{}
	sections(source, func(id byte, data []byte) {
		if id == sectionCustom {
			functionNames(data, wanted, names)
		}
	})
	for _, name := range wanted {
		if _, ok := names[name]; !ok {
			panic(fmt.Errorf("%w: no function %s", ErrModule, name))
		}
	}
	out, first := []byte(magic), 0
	sections(source, func(id byte, data []byte) {
		switch id {
		case sectionCustom:
			return
		case sectionImport:
			first = imported(data)
		case sectionExport:
			data = withExports(data, exported, names)
		case sectionCode:
			data = withBodies(data, first, names, func(name string, body []byte) []byte { return c.change(names, name, body) })
		}
		out = appendSized(append(out, id), data)
	})
	return out
}

// change changes a function.
func (c *changes) change(functions map[string]int, name string, body []byte) []byte {
	for _, r := range c.replaced[name] {
		old, new := (&rewrite.Assembler{Words: c.words}).Assemble(r.old), (&rewrite.Assembler{Words: c.words}).Assemble(r.new)
		if n := bytes.Count(body, old); n != r.times {
			panic(fmt.Errorf("%w: %s has %s %d times, not %d", ErrModule, name, r.old, n, r.times))
		}
		body = bytes.ReplaceAll(body, old, new)
	}
	if b, ok := c.before[name]; ok {
		return c.prefixed(functions, body, b)
	}
	return body
}

// prefixed puts code before that of a function.
func (c *changes) prefixed(functions map[string]int, body []byte, b before) []byte {
	in := &part{body}
	groups, locals := in.number(), len(b.parameters)
	declared := in.b
	for range groups {
		locals += in.number()
		in.take(1)
	}
	declared = declared[:len(declared)-len(in.b)]
	a := &rewrite.Assembler{Words: c.words, Numbers: map[string]int{}, Locals: locals}
	for name, f := range functions {
		a.Numbers["@"+name] = f
	}
	for i, name := range b.parameters {
		a.Numbers[name] = i
	}
	code := a.Assemble(b.code)
	out := appendNumber(nil, groups+len(a.Declared)/2)
	return slices.Concat(out, declared, a.Declared, code, in.b)
}
