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

// Sections of a module.
const (
	sectionCustom = 0
	sectionImport = 2
	sectionExport = 7
	sectionCode   = 10
)

// A section of a module, without its id and size.
type section struct {
	id   byte
	data []byte
}

// A part is what is left to read of a module. It was validated by who made it; what is not
// as expected panics, which recovered makes an error.
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

// sections returns the sections of a module.
func sections(source []byte) []section {
	var list []section
	p := &part{source}
	if !bytes.Equal(p.take(8), []byte("\x00asm\x01\x00\x00\x00")) {
		panic(fmt.Errorf("%w: no module", ErrModule))
	}
	for len(p.b) > 0 {
		list = append(list, section{p.take(1)[0], p.sized()})
	}
	return list
}

// functionNames returns the numbers of the functions that have one of the names. No two have
// the same.
func functionNames(list []section, wanted []string) map[string]int {
	names := map[string]int{}
	for _, s := range list {
		p := &part{s.data}
		if s.id != sectionCustom || string(p.sized()) != "name" {
			continue
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
	return names
}

// imported returns how many functions a module imports. It imports nothing else.
func imported(list []section) (n int) {
	for _, s := range list {
		if s.id != sectionImport {
			continue
		}
		p := &part{s.data}
		for n = p.number(); len(p.b) > 0; p.number() {
			p.sized()
			p.sized()
			if p.take(1)[0] != 0 {
				panic(fmt.Errorf("%w: an import of another kind", ErrModule))
			}
		}
	}
	return n
}

// appendSized appends bytes with their number before them.
func appendSized(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

// write returns a module of the sections, without custom ones.
func write(list []section) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range list {
		if s.id != sectionCustom {
			out = appendSized(append(out, s.id), s.data)
		}
	}
	return out
}

// withExports adds functions to the exports, by name.
func withExports(exports []byte, names []string, numbers map[string]int) []byte {
	p := &part{exports}
	out := binary.AppendUvarint(nil, uint64(p.number()+len(names)))
	out = append(out, p.b...)
	for _, name := range names {
		out = append(appendSized(out, []byte(name)), 0)
		out = binary.AppendUvarint(out, uint64(numbers[name]))
	}
	return out
}

// withBodies calls change with the bodies of the functions that have a name.
func withBodies(code []byte, first int, names map[string]int, change func(name string, body []byte) []byte) []byte {
	byNumber := map[int]string{}
	for name, f := range names {
		byNumber[f] = name
	}
	p := &part{code}
	n := p.number()
	out := make([]byte, 0, len(code)+1<<16)
	out = binary.AppendUvarint(out, uint64(n))
	for f := first; f < first+n; f++ {
		body := p.sized()
		if name, ok := byNumber[f]; ok {
			body = change(name, body)
		}
		out = appendSized(out, body)
	}
	return out
}

func appendNumber(to []byte, n int) []byte { return binary.AppendUvarint(to, uint64(n)) }
