package science

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
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
	list := sections(source)
	wanted := slices.Concat(exported, c.called, slices.Collect(maps.Keys(c.replaced)), slices.Collect(maps.Keys(c.before)))
	names := functionNames(list, wanted)
	for _, name := range wanted {
		if _, ok := names[name]; !ok {
			panic(fmt.Errorf("%w: no function %s", ErrModule, name))
		}
	}
	first := imported(list)
	for i, s := range list {
		switch s.id {
		case sectionExport:
			list[i].data = withExports(s.data, exported, names)
		case sectionCode:
			list[i].data = withBodies(s.data, first, names, func(name string, body []byte) []byte { return c.change(names, name, body) })
		}
	}
	return write(list)
}

// change changes a function.
func (c *changes) change(functions map[string]int, name string, body []byte) []byte {
	for _, r := range c.replaced[name] {
		old, new := (&assembler{changes: c}).assemble(r.old), (&assembler{changes: c}).assemble(r.new)
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
	a := &assembler{changes: c, numbers: map[string]int{}, locals: locals}
	for name, f := range functions {
		a.numbers["@"+name] = f
	}
	for i, name := range b.parameters {
		a.numbers[name] = i
	}
	code := a.assemble(b.code)
	out := appendNumber(nil, groups+len(a.declared)/2)
	return slices.Concat(out, declared, a.declared, code, in.b)
}
