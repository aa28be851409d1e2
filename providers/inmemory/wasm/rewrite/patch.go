package rewrite

import (
	"fmt"
	"slices"
)

// A change returns the new body of a function, with its declarations of locals. numbers are
// those of all functions that are wanted, by name.
type change = func(numbers map[string]int, name string, body []byte) ([]byte, error)

// Patch changes functions of a module that imports nothing but functions, and has names of
// them, and exports some. The result has no names.
func Patch(source []byte, exported, changed []string, do change) ([]byte, error) {
	m, err := split(source)
	if err != nil {
		return nil, err
	}
	numbers, names := map[string]int{}, map[int]string{}
	for _, name := range slices.Concat(exported, changed) {
		f, ok := m.names[name]
		if !ok || f < 0 {
			return nil, fmt.Errorf("%w: not one function %s", ErrModule, name)
		}
		numbers[name], names[f] = f, name
	}
	var exports code
	for _, name := range exported {
		exports = append(exports.sized([]byte(name)), 0).u32(uint32(numbers[name]))
	}
	m.sections[idExport] = exports.behind(m.sections[idExport], uint32(len(exported)))
	first := 0
	if s := m.sections[idImport]; s != nil {
		first = int((&reader{b: s}).u32())
	}
	r := &reader{b: m.sections[idCode]}
	n := int(r.u32())
	bodies := make(code, 0, len(r.b)+1<<16).u32(uint32(n))
	for f := first; f < first+n && r.err == nil; f++ {
		body := r.take(r.u32())
		if name, ok := names[f]; ok && r.err == nil {
			if body, err = do(numbers, name, body); err != nil {
				return nil, err
			}
		}
		bodies = bodies.sized(body)
	}
	m.sections[idCode] = bodies
	return m.whole(), r.err
}

// Before returns the body of a function with more code before its own, for which its
// parameters have names. What that declares becomes locals of the function.
func (a *Assembler) Before(body []byte, parameters, words []string) ([]byte, error) {
	b := &reader{b: body}
	groups := b.count()
	start := b.at
	a.Locals = len(parameters)
	for range groups {
		a.Locals += int(b.u32())
		b.byte()
	}
	if b.err != nil {
		return nil, b.err
	}
	for i, name := range parameters {
		a.Numbers[name] = i
	}
	code := a.Assemble(words)
	return slices.Concat(append(a.code[:0:0].u32(groups+uint32(len(a.Declared)/2)), body[start:b.at]...), a.Declared, code, body[b.at:]), nil
}
