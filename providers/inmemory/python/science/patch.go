package science

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

// patch gives a module the changes of integers, and exports functions that the host calls.
func patch(source []byte) ([]byte, error) {
	return readChanges(changesText).apply(source, "PyErr_SetInterruptEx", "PyObject_CallNoArgs")
}

// apply changes a module, and exports functions.
func (c *changes) apply(source []byte, exported ...string) ([]byte, error) {
	named := slices.Concat(c.called, slices.Collect(maps.Keys(c.replaced)), slices.Collect(maps.Keys(c.before)))
	return rewrite.Patch(source, exported, named, c.change)
}

// change changes a function.
func (c *changes) change(functions map[string]int, name string, body []byte) ([]byte, error) {
	for _, r := range c.replaced[name] {
		old, new := (&rewrite.Assembler{Words: c.words}).Assemble(r.old), (&rewrite.Assembler{Words: c.words}).Assemble(r.new)
		if n := bytes.Count(body, old); n != r.times {
			return nil, fmt.Errorf("%w: %s has %s %d times, not %d", rewrite.ErrModule, name, r.old, n, r.times)
		}
		body = bytes.ReplaceAll(body, old, new)
	}
	b, ok := c.before[name]
	if !ok {
		return body, nil
	}
	a := &rewrite.Assembler{Words: c.words, Numbers: map[string]int{}}
	for name, f := range functions {
		a.Numbers["@"+name] = f
	}
	return a.Before(body, b.parameters, b.code)
}
