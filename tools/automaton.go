package tools

import "bytes"

// An automaton finds any of a set of patterns in one pass (Aho and Corasick).
// Bytes that are in no pattern share one class.
type automaton struct {
	patterns []string
	class    [256]uint16
	width    int
	next     []int32 // next[state*width+class]
	depth    []int32 // how many of the last bytes may begin a pattern
	longest  []int32 // the longest pattern that ends in the state, 0 for none
}

func newAutomaton(patterns []string) automaton {
	a := automaton{width: 1, patterns: patterns}
	for _, p := range patterns {
		for i := range len(p) {
			if a.class[p[i]] == 0 {
				a.class[p[i]] = uint16(a.width)
				a.width++
			}
		}
	}
	a.addState(0)
	for _, p := range patterns {
		a.insert(p)
	}
	a.link()
	return a
}

func (a *automaton) addState(depth int32) int32 {
	a.next = append(a.next, make([]int32, a.width)...)
	a.depth = append(a.depth, depth)
	a.longest = append(a.longest, 0)
	return int32(len(a.depth) - 1)
}

func (a *automaton) insert(pattern string) {
	state := int32(0)
	for i := range len(pattern) {
		at := int(state)*a.width + int(a.class[pattern[i]])
		if a.next[at] == 0 {
			n := a.addState(a.depth[state] + 1)
			a.next[at] = n
		}
		state = a.next[at]
	}
	a.longest[state] = int32(len(pattern))
}

// link completes the transitions, breadth first.
func (a *automaton) link() {
	fail := make([]int32, len(a.depth))
	var queue []int32
	for c := range a.width {
		if n := a.next[c]; n != 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.longest[state] = max(a.longest[state], a.longest[fail[state]])
		leaf := true
		for c := range a.width {
			at := int(state)*a.width + c
			back := a.next[int(fail[state])*a.width+c]
			if n := a.next[at]; n != 0 {
				fail[n] = back
				queue = append(queue, n)
				leaf = false
			} else {
				a.next[at] = back
			}
		}
		if leaf {
			a.depth[state] = a.depth[fail[state]]
		}
	}
}

// scan runs over p from a state. It reports whether a pattern ends within p,
// and the state after it, or after the first find.
func (a *automaton) scan(state int32, p []byte) (found bool, end int32) {
	for _, c := range p {
		state = a.next[int(state)*a.width+int(a.class[c])]
		if a.longest[state] > 0 {
			return true, state
		}
	}
	return false, state
}

// A matcher replaces what the automaton finds in a stream of chunks. It holds
// back what may turn out to be a secret.
type matcher struct {
	auto  *automaton
	state int32
	held  []byte     // bytes that were not passed on
	spans []interval // secrets within held, not overlapping, in order
}

type interval struct{ from, to int }

// next appends to dst what is certain once p was read.
func (m *matcher) next(dst, p []byte) []byte {
	a := m.auto
	start := len(m.held)
	m.held = append(m.held, p...)
	for i := start; i < len(m.held); i++ {
		m.state = a.next[int(m.state)*a.width+int(a.class[m.held[i]])]
		if n := int(a.longest[m.state]); n > 0 {
			m.mark(i+1-n, i+1)
		}
	}
	return m.pass(dst, len(m.held)-int(a.depth[m.state]))
}

// mark adds a find, joined with those that it touches.
func (m *matcher) mark(from, to int) {
	for len(m.spans) > 0 && m.spans[len(m.spans)-1].to > from {
		last := m.spans[len(m.spans)-1]
		from = min(from, last.from)
		m.spans = m.spans[:len(m.spans)-1]
	}
	m.spans = append(m.spans, interval{from, to})
}

// pass appends the first n held bytes to dst, with the finds replaced. A find
// that reaches beyond them stays.
func (m *matcher) pass(dst []byte, n int) []byte {
	at, used := 0, 0
	for _, s := range m.spans {
		if s.to > n {
			n = min(n, s.from)
			break
		}
		dst = append(append(dst, m.held[at:s.from]...), mask...)
		at = s.to
		used++
	}
	dst = append(dst, m.held[at:n]...)
	m.held = append(m.held[:0], m.held[n:]...)
	m.spans = append(m.spans[:0], m.spans[used:]...)
	for i := range m.spans {
		m.spans[i].from -= n
		m.spans[i].to -= n
	}
	return dst
}

// end appends what is held to dst and starts over.
func (m *matcher) end(dst []byte) []byte {
	dst = m.pass(dst, len(m.held))
	m.state = 0
	return dst
}

// suffix returns the length of the longest proper end of a pattern that p
// starts with.
func (a *automaton) suffix(p []byte) int {
	n := 0
	for _, tail := range a.patterns {
		for i := 1; i < len(tail); i++ {
			if rest := tail[i:]; len(rest) > n && bytes.HasPrefix(p, []byte(rest)) {
				n = len(rest)
			}
		}
	}
	return n
}
