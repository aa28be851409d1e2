package rewrite

import "bytes"

const typeI32 = 0x7f

// parse reads the sections that matter to a change.
func parse(source []byte, yield string) (*module, error) {
	if len(source) > maxModule || !bytes.HasPrefix(source, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, ErrModule
	}
	m := &module{plain: map[uint32]bool{}}
	r := &reader{b: source, at: 8}
	last := 0
	for r.more() {
		id := r.byte()
		body := r.take(r.u32())
		if r.err != nil {
			break
		}
		switch {
		case id == idCustom:
			continue
		case id == idStart || id > idDataCount:
			r.fail("a section with the number %d", id)
		case position(id) <= last:
			r.fail("the sections are in no order")
		default:
			last = position(id)
			m.sections[id] = append([]byte{}, body...)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, m.read(yield)
}

// position returns where a section stands among the others.
func position(id byte) int {
	switch {
	case id == idDataCount:
		return idElement*2 + 1
	default:
		return int(id) * 2
	}
}

// read reads the sections one by one, as far as what is added depends on them.
func (m *module) read(yield string) error {
	found := false
	for _, s := range []struct {
		id   int
		read func(*reader)
	}{
		{idType, m.readTypes},
		{idImport, func(r *reader) { found = m.readImports(r, yield) }},
		{idFunction, func(r *reader) { m.functions += r.u32() }},
		{idMemory, m.readMemory},
		{idGlobal, func(r *reader) { m.globals += r.u32() }},
	} {
		if m.sections[s.id] == nil {
			continue
		}
		r := &reader{b: m.sections[s.id]}
		s.read(r)
		if r.err != nil {
			return r.err
		}
	}
	r := &reader{}
	if !found {
		r.fail("it does not import %s", yield)
	}
	return r.err
}

func (m *module) readTypes(r *reader) {
	m.types = r.count()
	for i := uint32(0); i < m.types && r.err == nil; i++ {
		if form := r.byte(); form != 0x60 {
			r.fail("a type of form %#x", form)
		}
		params := r.take(r.u32())
		results := r.take(r.u32())
		m.plain[i] = len(params) == 0 && len(results) == 0
	}
}

// readImports counts what is imported, and finds the function that is called when the
// fuel is spent.
func (m *module) readImports(r *reader, yield string) (found bool) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		name := r.name() + "." + r.name()
		switch kind := r.byte(); kind {
		case 0:
			t := r.u32()
			if name == yield {
				if !m.plain[t] {
					r.fail("the import %s takes or returns something", name)
				}
				m.yield, found = m.functions, true
			}
			m.functions++
			m.imports++
		case 3:
			r.take(2)
			m.globals++
		default:
			r.fail("an import of kind %d", kind)
		}
	}
	return found
}

func (m *module) readMemory(r *reader) {
	if n := r.u32(); n != 1 {
		r.fail("%d memories", n)
	}
	flags := r.byte()
	if flags > 1 {
		r.fail("a memory of kind %d", flags)
	}
	pages := r.u32()
	if pages > 1<<16 {
		r.fail("a memory of %d pages", pages)
	}
	m.memory = uint64(pages) * pageSize
}
