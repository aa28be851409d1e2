package scrub

// A matcher replaces what the automaton finds in a stream of chunks. It holds
// back what may turn out to be a secret, and no more than that.
type matcher struct {
	auto   *automaton
	state  int32
	held   []byte     // bytes that were not passed on
	spans  []interval // secrets within held, not overlapping, in order
	masked bool       //  the first of spans began before held, and its mask was passed on
}

type interval struct{ from, to int }

// next appends to dst what is certain once p was read.
func (m *matcher) next(dst, p []byte) []byte {
	a := m.auto
	start := len(m.held)
	m.held = append(m.held, p...)
	for i := start; i < len(m.held); i++ {
		m.state = a.step(m.state, m.held[i])
		if n := int(a.states[m.state].found); n > 0 {
			m.mark(i+1-n, i+1)
		}
	}
	return m.pass(dst, len(m.held)-int(a.states[m.state].open))
}

// mark adds a find, joined with those that it overlaps.
func (m *matcher) mark(from, to int) {
	from = max(from, 0)
	for len(m.spans) > 0 && m.spans[len(m.spans)-1].to > from {
		last := m.spans[len(m.spans)-1]
		from, to = min(from, last.from), max(to, last.to)
		m.spans = m.spans[:len(m.spans)-1]
	}
	m.spans = append(m.spans, interval{from, to})
}

// pass appends the first n held bytes to dst, with the finds replaced. No find
// to come starts among them, but the last may go on.
func (m *matcher) pass(dst []byte, n int) []byte {
	at, used := 0, 0
	for _, s := range m.spans {
		if s.from >= n && !m.masked {
			break
		}
		dst = append(dst, m.held[at:s.from]...)
		if !m.masked {
			dst = append(dst, mask...)
		}
		// A secret that goes on in what stays held has its mask already.
		at, m.masked = min(s.to, n), s.to > n
		if m.masked {
			break
		}
		used++
	}
	dst = append(dst, m.held[at:n]...)
	m.held = append(m.held[:0], m.held[n:]...)
	m.spans = append(m.spans[:0], m.spans[used:]...)
	for i := range m.spans {
		m.spans[i] = interval{max(m.spans[i].from-n, 0), m.spans[i].to - n}
	}
	return dst
}

// end appends what is held to dst and starts over.
func (m *matcher) end(dst []byte) []byte {
	dst = m.pass(dst, len(m.held))
	m.state = 0
	return dst
}

// chunk is next without copying where nothing is held or found.
func (m *matcher) chunk(p []byte) []byte {
	if len(m.held)+len(m.spans) > 0 {
		return m.next(nil, p)
	}
	found, state := m.auto.scan(0, p)
	if found {
		return m.next(nil, p)
	}
	n := len(p) - int(m.auto.states[state].open)
	m.state = state
	m.held = append(m.held, p[n:]...)
	return p[:n:n]
}

// gap is end where something is missing after what was read: a mask stands for
// what may have become a secret.
func (m *matcher) gap(dst []byte) []byte {
	if len(m.held) < minSecret {
		return m.end(dst)
	}
	if !m.masked {
		dst = append(dst, mask...)
	}
	*m = matcher{auto: m.auto}
	return dst
}

// resume makes ready for p where something is missing before it: what may be
// the end of a secret counts as one.
func (m *matcher) resume(s *Set, p []byte) {
	if n := s.ending(p); n >= minSecret {
		m.mark(0, n)
	}
}
