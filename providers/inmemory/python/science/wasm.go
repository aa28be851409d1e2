package science

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrModule: the module is not the expected one.
var ErrModule = errors.New("science: not the expected module")

const magic = "\x00asm\x01\x00\x00\x00"

// Sections of a module.
const (
	sectionCustom = 0
	sectionImport = 2
	sectionExport = 7
	sectionCode   = 10
)

// A part is what is left to read of a module. It was validated by who made it; what is not
// as expected panics with an error.
type part struct{ b []byte }

func (p *part) number() int {
	v, n := binary.Uvarint(p.b)
	if n <= 0 || v > 1<<31 {
		panic(fmt.Errorf("%w: a damaged number", ErrModule))
	}
	p.b = p.b[n:]
	return int(v)
}

func (p *part) take(n int) []byte {
	if n > len(p.b) {
		panic(fmt.Errorf("%w: it ends early", ErrModule))
	}
	b := p.b[:n:n]
	p.b = p.b[n:]
	return b
}

func (p *part) sized() []byte { return p.take(p.number()) }

// sections calls do with each section of a module, without its id and size.
func sections(source []byte, do func(id byte, data []byte)) {
	p := &part{source}
	if !bytes.Equal(p.take(len(magic)), []byte(magic)) {
		panic(fmt.Errorf("%w: no module", ErrModule))
	}
	for len(p.b) > 0 {
		do(p.take(1)[0], p.sized())
	}
}

// functionNames adds the numbers of the functions that have one of the names, of those that a
// custom section has. No two have the same.
func functionNames(custom []byte, wanted []string, names map[string]int) {
	p := &part{custom}
	if string(p.sized()) != "name" {
		return
	}
	for len(p.b) > 0 {
		kind, sub := p.take(1)[0], &part{p.sized()}
		if kind != 1 { // not those of functions
			continue
		}
		for n := sub.number(); n > 0; n-- {
			f, name := sub.number(), string(sub.sized())
			if _, twice := names[name]; twice {
				panic(fmt.Errorf("%w: two functions %s", ErrModule, name))
			}
			if slices.Contains(wanted, name) {
				names[name] = f
			}
		}
	}
}

// imported returns how many functions a module imports. It imports nothing else.
func imported(imports []byte) int {
	p := &part{imports}
	n := p.number()
	for ; len(p.b) > 0; p.number() {
		p.sized()
		p.sized()
		if p.take(1)[0] != 0 {
			panic(fmt.Errorf("%w: an import of another kind", ErrModule))
		}
	}
	return n
}

func appendNumber(to []byte, n int) []byte { return binary.AppendUvarint(to, uint64(n)) }

// appendSized appends bytes with their number before them.
func appendSized(to, b []byte) []byte { return append(appendNumber(to, len(b)), b...) }

// withExports adds functions to the exports, by name.
func withExports(exports []byte, names []string, numbers map[string]int) []byte {
	p := &part{exports}
	out := appendNumber(nil, p.number()+len(names))
	out = append(out, p.b...)
	for _, name := range names {
		out = appendNumber(append(appendSized(out, []byte(name)), 0), numbers[name])
	}
	return out
}

// withBodies calls change with the bodies of the functions that have a name. The first has
// the number first.
func withBodies(code []byte, first int, names map[string]int, change func(name string, body []byte) []byte) []byte {
	byNumber := map[int]string{}
	for name, f := range names {
		byNumber[f] = name
	}
	p := &part{code}
	n := p.number()
	out := appendNumber(make([]byte, 0, len(code)+1<<16), n)
	for f := first; f < first+n; f++ {
		body := p.sized()
		if name, ok := byNumber[f]; ok {
			body = change(name, body)
		}
		out = appendSized(out, body)
	}
	return out
}
