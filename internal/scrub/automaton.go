package scrub

// An automaton finds any of a set of patterns in one pass (Aho and Corasick).
// Bytes that are in no pattern share one class. The states of the first bytes,
// which most texts never leave, have rows of transitions; the many others only
// the transitions that lead on, and a state to fall back to.
type automaton struct {
	class  [256]uint8
	width  int
	rows   []int32 // rows[state*width+class], for the first states
	dense  int32   // how many states have rows
	states []state
	longer int // the longest pattern
}

// A state stands for the start of a pattern.
type state struct {
	first, next int32 // its first child, the next child of its parent; 0: none
	fail        int32 // the longest other state that it ends with
	size        int32 // its bytes
	open        int32 // how many of the last bytes may begin a pattern
	found       int32 // the longest pattern that it ends with, 0 for none
	class       uint8 // of its last byte
}

func newAutomaton(patterns []string) *automaton {
	a := &automaton{states: make([]state, 1), width: 1}
	for _, p := range patterns {
		for i := range len(p) {
			// Where patterns have all 256 bytes, the last stays in class 0 and is
			// alone there.
			if a.class[p[i]] == 0 && a.width < 256 {
				a.class[p[i]] = uint8(a.width)
				a.width++
			}
		}
		a.longer = max(a.longer, len(p))
	}
	for _, p := range patterns {
		a.insert(p)
	}
	a.link()
	return a
}

func (a *automaton) child(s int32, class uint8) int32 {
	for n := a.states[s].first; n != 0; n = a.states[n].next {
		if a.states[n].class == class {
			return n
		}
	}
	return 0
}

func (a *automaton) insert(pattern string) {
	at := int32(0)
	for i := range len(pattern) {
		c := a.class[pattern[i]]
		n := a.child(at, c)
		if n == 0 {
			n = int32(len(a.states))
			s := &a.states[at]
			a.states = append(a.states, state{class: c, size: s.size + 1, open: s.size + 1, next: s.first})
			a.states[at].first = n // not by s: append may have moved the states
		}
		at = n
	}
	a.states[at].found = int32(len(pattern))
}

// link numbers the states breadth first, and fills in what they fall back to
// and the rows.
func (a *automaton) link() {
	a.renumber()
	for i := range a.states {
		if a.states[i].size > 1 {
			break
		}
		a.dense++
	}
	a.rows = make([]int32, int(a.dense)*a.width)
	for i := range a.states {
		for n := a.states[i].first; n != 0; n = a.states[n].next {
			if i > 0 {
				a.states[n].fail = a.move(a.states[i].fail, a.states[n].class)
			}
		}
		s := &a.states[i]
		// States come by size, so that the shorter one is complete already.
		s.found = max(s.found, a.states[s.fail].found)
		// Nothing goes on from here: only what it falls back to is still open.
		if s.first == 0 {
			s.open = a.states[s.fail].open
		}
		if int32(i) < a.dense {
			row := a.rows[i*a.width : (i+1)*a.width]
			// What leads nowhere from here goes where it leads from there.
			copy(row, a.rows[int(s.fail)*a.width:])
			for n := s.first; n != 0; n = a.states[n].next {
				row[a.states[n].class] = n
			}
		}
	}
}

// renumber orders the states by size, which is what link goes by.
func (a *automaton) renumber() {
	order := make([]state, 1, len(a.states))
	order[0] = a.states[0]
	for i := 0; i < len(order); i++ {
		n := order[i].first
		order[i].first = 0
		for n != 0 {
			s := a.states[n]
			sibling := s.next
			s.next = order[i].first
			order[i].first = int32(len(order))
			order = append(order, s)
			n = sibling
		}
	}
	a.states = order
}

// move returns the state after a byte of that class.
func (a *automaton) move(s int32, class uint8) int32 {
	for s >= a.dense {
		if n := a.child(s, class); n != 0 {
			return n
		}
		s = a.states[s].fail
	}
	return a.rows[int(s)*a.width+int(class)]
}

func (a *automaton) step(s int32, b byte) int32 { return a.move(s, a.class[b]) }

// scan runs over p from a state. It reports whether a pattern ends within p,
// and the state after it, or after the first find.
func (a *automaton) scan(s int32, p []byte) (found bool, end int32) {
	for _, b := range p {
		// As move does it, without a call for each byte: most texts never leave
		// these states.
		if s < a.dense {
			s = a.rows[int(s)*a.width+int(a.class[b])]
		} else {
			s = a.move(s, a.class[b])
		}
		if s > 0 && a.states[s].found > 0 {
			return true, s
		}
	}
	return false, s
}
