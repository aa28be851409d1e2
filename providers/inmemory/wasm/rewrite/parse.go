package rewrite

import "bytes"

// Types of values.
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFunc      = 0x70
	typeExtern    = 0x6f
	typeException = 0x69 // a reference to an exception
)

// split reads the sections of a module.
func split(source []byte) (*module, error) {
	if len(source) > maxModule || !bytes.HasPrefix(source, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, ErrModule
	}
	m := &module{}
	r := &reader{b: source, at: 8}
	last := -1
	for r.more() {
		id := r.byte()
		body := r.take(r.u32())
		if r.err != nil {
			break
		}
		switch at := bytes.IndexByte(order, id); {
		case id == idCustom:
			m.addNames(body)
		case at < 0:
			r.fail("a section with the number %d", id)
		case at <= last:
			r.fail("the sections are in no order")
		default:
			last = at
			m.sections[id] = append([]byte{}, body...)
		}
	}
	return m, r.err
}

// addNames keeps the numbers of functions by their names, where a custom section has them.
func (m *module) addNames(custom []byte) {
	r := &reader{b: custom}
	if r.name() != "name" {
		return
	}
	m.names = map[string]int{} // a negative number stands for several
	for r.more() {
		kind, sub := r.byte(), &reader{b: r.take(r.u32())}
		if kind != 1 { // not those of functions
			continue
		}
		for n := sub.u32(); n > 0 && sub.more(); n-- {
			f, name := sub.u32(), sub.name()
			if _, twice := m.names[name]; twice {
				f = 1 << 31
			}
			m.names[name] = int(int32(f))
		}
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
		{idFunction, m.readFunctions},
		{idMemory, m.readMemory},
		{idTag, m.readTags},
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
	for n := r.count(); n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != 0x60 {
			r.fail("a type of form %#x", form)
		}
		s := signature{r.types(r.count()), r.types(r.count())}
		m.types = append(m.types, s)
	}
}

// types reads the types of values. References to exceptions become numbers: see lower.
func (r *reader) types(n uint32) []byte {
	list := r.take(n)
	for i, t := range list {
		if !isType(t) {
			r.fail("a value of the type %#x", t)
		}
		if t == typeException {
			list[i] = typeI64
		}
	}
	return list
}

func isType(t byte) bool {
	return t >= typeV128 && t <= typeI32 || t == typeFunc || t == typeExtern || t == typeException
}

func (m *module) readFunctions(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		m.addFunction(r)
	}
}

// addFunction reads the type of the next function.
func (m *module) addFunction(r *reader) (s signature) {
	t := r.u32()
	if int(t) >= len(m.types) {
		r.fail("a function of the type %d", t)
		return s
	}
	m.typeOf = append(m.typeOf, t)
	return m.types[t]
}

// readTags reads what exceptions carry: nothing, or 32 bits.
func (m *module) readTags(r *reader) {
	m.tags = []bool{}
	for n := r.count(); n > 0 && r.err == nil; n-- {
		kind, t := r.byte(), r.u32()
		if kind != 0 || int(t) >= len(m.types) {
			r.fail("a tag of the type %d", t)
			return
		}
		s := m.types[t]
		if len(s.results) > 0 || len(s.params) > 1 || len(s.params) == 1 && s.params[0] != typeI32 {
			r.fail("a tag with other values than 32 bits")
		}
		m.tags = append(m.tags, len(s.params) == 1)
	}
}

// readImports counts what is imported, and finds the function that is called when the
// fuel is spent.
func (m *module) readImports(r *reader, yield string) (found bool) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		name := r.name() + "." + r.name()
		switch kind := r.byte(); kind {
		case 0:
			s := m.addFunction(r)
			if name == yield {
				if len(s.params) > 0 || len(s.results) > 1 {
					r.fail("the import %s takes or returns something", name)
				}
				m.yield, found = m.imports, true
			}
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
