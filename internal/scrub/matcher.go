package scrub

import "strings"

// match returns the length of the longest pattern that p begins with, and whether p may
// be the beginning of a longer one. p is not empty.
func (s *Set) match(p []byte) (n int, open bool) {
	for _, pattern := range s.byFirst[p[0]] {
		switch {
		case len(pattern) > len(p):
			open = open || pattern[:len(p)] == string(p)
		case len(pattern) > n && string(p[:len(pattern)]) == pattern:
			n = len(pattern)
		}
	}
	return n, open
}

// scan returns the index in p of the first pattern, or of its beginning at the end of p.
func (s *Set) scan(p []byte) (i int, found bool) {
	for i, b := range p {
		if len(s.byFirst[b]) == 0 {
			continue
		}
		if n, open := s.match(p[i:]); n > 0 || open {
			return i, n > 0
		}
	}
	return len(p), false
}

// ending returns how many of the first bytes of p may be the end of a pattern.
func (s *Set) ending(p []byte) (most int) {
	for _, list := range s.byFirst {
		for _, pattern := range list {
			for n := min(len(pattern), len(p)); n > most; n-- {
				if strings.HasSuffix(pattern, string(p[:n])) {
					most = n
				}
			}
		}
	}
	return most
}

// A matcher replaces patterns in a text that comes in chunks. It holds back what may be
// the beginning of one, and no more than that.
type matcher struct {
	set     *Set
	held    []byte // not passed on yet
	covered int    // how many bytes to come belong to a pattern whose mask was passed on
}

// next appends to dst what is certain once p was read, or all of it if p is the last.
func (m *matcher) next(dst, p []byte, last bool) []byte {
	m.held = append(m.held, p...)
	i, end, plain := 0, m.covered, m.covered
	for ; i < len(m.held); i++ {
		n, open := m.set.match(m.held[i:])
		if n > 0 {
			if i >= end { // patterns that overlap have one mask
				dst = append(append(dst, m.held[plain:i]...), mask...)
			}
			end = max(end, i+n)
			plain = end
		}
		if open && !last {
			break
		}
	}
	if plain < i {
		dst = append(dst, m.held[plain:i]...)
	}
	m.covered = max(end-i, 0)
	m.held = append(m.held[:0], m.held[i:]...)
	return dst
}

// chunk is next for a chunk that is not the last; it copies only what it changes.
func (m *matcher) chunk(p []byte) []byte {
	if len(m.held) > 0 || m.covered > 0 {
		return m.next(nil, p, false)
	}
	i, found := m.set.scan(p)
	if found {
		return m.next(nil, p, false)
	}
	m.held = append(m.held, p[i:]...)
	return p[:i:i]
}

// end appends what is held to dst.
func (m *matcher) end(dst []byte) []byte { return m.next(dst, nil, true) }

// gap is end where text is missing after what was read: a mask stands for what may be
// the beginning of a secret.
func (m *matcher) gap(dst []byte) []byte {
	if len(m.held) < minSecret {
		return m.end(dst)
	}
	if m.covered == 0 {
		dst = append(dst, mask...)
	}
	*m = matcher{set: m.set}
	return dst
}

// resume is chunk where text is missing before p: what may be the end of a secret counts
// as one.
func (m *matcher) resume(p []byte) []byte {
	n := m.set.ending(p)
	if n < minSecret {
		return m.chunk(p)
	}
	m.covered = n
	return append(mask[:len(mask):len(mask)], m.chunk(p)...)
}
