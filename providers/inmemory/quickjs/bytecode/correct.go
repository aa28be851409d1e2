package bytecode

import (
	"encoding/binary"

	lib "modernc.org/libquickjs"
)

// A Function is what a compiled function consists of.
type Function struct {
	Code  []byte
	Lines []byte // the table of positions
	// Captured reports whether closures capture a local variable, Scoped whether that is
	// one of a block, and Declared whether it is a function which a block declares.
	Captured, Scoped, Declared func(local int) bool
	// How many of each the function has.
	Locals, Args, Closures, Constants int
	Params                            []Param // what may be parameters with two variables
	// Mark reports whether a constant is the mark of typescript.MarkLoops, and Position
	// maps positions of the marked source. Both are nil if it is not marked.
	Mark     func(constant int) bool
	Position func(line, column int) (int, int)
}

// A Result is what Correct made of a function.
type Result struct {
	Code, Lines []byte // nil if the function is right as it is
	Stack       int    // values that the code needs beyond what it needed
	Joined      []Param
}

// Memory returns how many bytes Correct takes at most for a function's code.
func Memory(code int) int { return 40 * code }

// Suspect reports whether there may be something to correct in a function's code, other
// than marks, and whether it has variables of a loop or a block that closures capture.
func Suspect(code []byte) (suspect, closes bool) {
	for at := 0; at < len(code); {
		op := int32(code[at])
		switch op {
		case lib.EOP_close_loc:
			closes = true
		case lib.EOP_catch, lib.EOP_copy_data_properties:
			suspect = true
		}
		at += max(1, int(shape(op).Fsize))
	}
	return suspect, closes
}

// ClearThis makes this undefined in a function's code.
func ClearThis(code []byte) {
	for at := 0; at < len(code); at += max(1, int(shape(int32(code[at])).Fsize)) {
		if code[at] == lib.EOP_push_this {
			code[at] = lib.EOP_undefined
		}
	}
}

// Correct returns corrected code for a function. It reports false for a function that must
// not run: a mark's number is elsewhere than in a mark, or the corrected code is not valid.
func Correct(f Function) (Result, bool) {
	c := &correction{Function: f, list: decode(f.Code), labels: map[int32]bool{}, begins: map[int]int{}, insert: map[int][]byte{}, gone: map[int]bool{}}
	catches := c.index()
	if len(c.list) == 0 {
		return Result{}, false
	}
	for t := range c.labels {
		if find(c.list, t) < 0 {
			return Result{}, false
		}
	}
	if !c.marks() {
		return Result{}, false
	}
	if catches {
		c.entries()
		c.handlers()
	}
	c.spreads()
	c.params()
	if len(c.insert) == 0 && len(c.gone) == 0 {
		return Result{}, true
	}
	code, starts := c.write()
	if !c.verify(code, starts) {
		return Result{}, false
	}
	return Result{Code: code, Lines: MoveLines(f.Lines, starts, f.Position), Stack: c.stack, Joined: c.joined}, true
}

// A correction is one function's.
type correction struct {
	Function
	list []instruction

	labels map[int32]bool // places that anything leads to
	begins map[int]int    // from a variable to the instruction that first empties it

	insert map[int][]byte // what goes before an instruction, by its index
	gone   map[int]bool   // instructions that are left out
	stack  int
	joined []Param
}

// index reports whether the code catches exceptions.
func (c *correction) index() (catches bool) {
	for k, i := range c.list {
		switch i.op {
		case lib.EOP_catch:
			catches = true
		case lib.EOP_set_loc_uninitialized:
			v := i.local(c.Code)
			if _, ok := c.begins[v]; !ok {
				c.begins[v] = k
			}
		}
		if t := i.target(c.Code); t >= 0 {
			c.labels[t] = true
		}
	}
	return catches
}

// by returns the instruction at a place.
func (c *correction) by(place int32) int { return find(c.list, place) }

// marks replaces the marks that typescript.MarkLoops makes by the end of a round: a
// continue leads there, as the end of the body does. It reports false if the number of a
// mark is loaded elsewhere.
func (c *correction) marks() bool {
	if c.Mark == nil {
		return true
	}
	for k := 0; k < len(c.list); k++ {
		if !c.loadsMark(k) {
			continue
		}
		end := c.markEnd(k)
		if end < 0 {
			return false
		}
		for i := k; i < end; i++ {
			if v := c.list[i].gets(c.Code); v >= 0 && c.Captured(v) {
				c.insert[k] = appendClose(c.insert[k], v)
			}
			c.gone[i] = true
		}
		k = end - 1
	}
	return true
}

// markEnd returns the instruction behind a mark, which is !mark,!a,!b,!mark without a jump
// into it, or -1 if the code is anything else.
func (c *correction) markEnd(first int) int {
	for k := first; c.discards(k, k > first); k += 3 {
		switch {
		case k > first && c.loadsMark(k):
			return k + 3
		case k > first && c.list[k].gets(c.Code) < 0:
			return -1
		}
	}
	return -1
}

// discards reports whether the three instructions from k on are those of an operand, of !
// and of the comma. No jump may lead to the second and the third, nor to the first if it
// is inside of a mark.
func (c *correction) discards(k int, inside bool) bool {
	return k+3 < len(c.list) && c.list[k+1].op == lib.EOP_lnot && c.list[k+2].op == lib.EOP_drop &&
		!c.labels[c.list[k+1].at] && !c.labels[c.list[k+2].at] && !(inside && c.labels[c.list[k].at])
}

// loadsMark reports whether an instruction loads a mark's number.
func (c *correction) loadsMark(k int) bool {
	n := c.list[k].constant(c.Code)
	return n >= 0 && c.Mark(n)
}

func appendClose(code []byte, local int) []byte {
	return binary.NativeEndian.AppendUint16(append(code, lib.EOP_close_loc), uint16(local))
}

// entries closes the variables of a block where the block begins, as an exception may
// have left them open in the round before.
func (c *correction) entries() {
	seen := map[int]bool{}
	loops := c.loops()
	for k := 0; k < len(c.list); k++ {
		first := k
		var open []byte
		for k < len(c.list) && (k == first || !c.labels[c.list[k].at]) {
			v, n := c.entry(k, seen)
			if n == 0 {
				break
			}
			if k += n; c.Captured(v) {
				open = appendClose(open, v)
			}
		}
		if len(open) > 0 && loops[first] {
			c.insert[first] = append(c.insert[first], open...)
		}
		if k > first {
			k--
		}
	}
}

// entry returns the variable that begins at an instruction, and how many instructions
// that takes, 0 if none does.
func (c *correction) entry(k int, seen map[int]bool) (local, n int) {
	switch i := c.list[k]; i.op {
	case lib.EOP_set_loc_uninitialized:
		return i.local(c.Code), 1
	case lib.EOP_fclosure, lib.EOP_fclosure8:
		if k+1 == len(c.list) || c.labels[c.list[k+1].at] {
			return 0, 0
		}
		// The first that sets it: all else that does is in the block.
		if v := c.list[k+1].sets(c.Code); v >= 0 && c.Declared(v) && !seen[v] {
			seen[v] = true
			return v, 2
		}
	}
	return 0, 0
}

// handlers does the same for the variables of catch (...), which nothing empties.
func (c *correction) handlers() {
	seen := map[int]bool{}
	for k, i := range c.list {
		if i.op != lib.EOP_catch {
			continue
		}
		first := c.by(i.target(c.Code))
		for k = first; k < len(c.list) && c.list[k].op != lib.EOP_catch && c.list[k].op != lib.EOP_gosub; k++ {
			v := c.list[k].sets(c.Code)
			if _, empties := c.begins[v]; v < 0 || empties || seen[v] || !c.Captured(v) || !c.Scoped(v) {
				continue
			}
			seen[v] = true
			c.insert[first] = appendClose(c.insert[first], v)
		}
	}
}

// loops tells of each instruction whether it is in a loop.
func (c *correction) loops() []bool {
	in := make([]bool, len(c.list))
	depth := make([]int, len(c.list)+1)
	for k, i := range c.list {
		if t := i.target(c.Code); t >= 0 && t <= i.at && i.isJump() {
			depth[c.by(t)]++
			depth[k+1]--
		}
	}
	n := 0
	for k := range in {
		n += depth[k]
		in[k] = n > 0
	}
	return in
}

// objectSpread is the operand of a copy for {...value}: source, target and what is left out
// are the three topmost values.
const objectSpread = 2 | 1<<2

func (c *correction) isSpread(k int) bool {
	return int(c.Code[c.list[k].at+1]) == objectSpread && k > 0 && c.list[k-1].op == lib.EOP_null
}

// spreads makes an object of what is spread into one, unless it is undefined or null.
func (c *correction) spreads() {
	for k, i := range c.list {
		if i.op == lib.EOP_copy_data_properties && c.isSpread(k) {
			c.insert[k-1] = append(c.insert[k-1],
				lib.EOP_dup, lib.EOP_is_undefined_or_null, lib.EOP_if_true8, 2, lib.EOP_to_object)
			c.stack = 1
		}
	}
}
