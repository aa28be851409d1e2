// Package jsontally counts the members of JSON before it is decoded: one takes a
// hundred times as much then as the byte or two that it had.
package jsontally

// A Tally counts the members of JSON as it comes.
type Tally struct {
	Size, Members           int
	quoted, escaped, filled bool
}

// Members returns how many members JSON has: of all its objects and lists.
func Members(b []byte) int {
	var t Tally
	for _, c := range b {
		t.Add(c)
	}
	return t.Members
}

// Add counts a byte.
func (t *Tally) Add(c byte) {
	t.Size++
	switch {
	// JSON has no such bytes in strings, and whatever a stream has around it ends with
	// its line.
	case c == '\n' || c == '\r':
		t.quoted, t.escaped = false, false
		return
	case t.escaped:
		t.escaped = false
	case t.quoted:
		t.quoted, t.escaped = c != '"', c == '\\'
	case c == '"':
		t.quoted = true
	case c == ',' || c == '[' || c == '{':
		t.Members++
	}
	t.filled = true
}

// Line notes the end of a line of a stream, of which an empty one ends an event.
func (t *Tally) Line() {
	if !t.filled {
		*t = Tally{}
	}
	t.filled = false
}
