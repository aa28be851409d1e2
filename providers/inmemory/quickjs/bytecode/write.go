package bytecode

import (
	"encoding/binary"
)

// write returns the code with what is inserted and without what is gone. starts has for each
// place of the old code that of the new one, before what is inserted there.
func (c *correction) write() (code []byte, starts []int32) {
	starts = make([]int32, len(c.Code)+1)
	at := int32(0)
	for k, i := range c.list {
		starts[i.at] = at
		at += int32(len(c.insert[k]))
		if c.gone[k] {
			for place := i.at + 1; place < i.end; place++ {
				starts[place] = at
			}
			continue
		}
		for place := i.at + 1; place < i.end; place++ {
			starts[place] = at + place - i.at
		}
		at += i.end - i.at
		if _, size := i.label(); i.isJump() {
			at += 4 - size
		}
	}
	starts[len(c.Code)] = at
	code = make([]byte, 0, at)
	for k, i := range c.list {
		code = append(code, c.insert[k]...)
		if c.gone[k] {
			continue
		}
		target := i.target(c.Code)
		if target < 0 {
			code = append(code, c.Code[i.at:i.end]...)
			continue
		}
		if i.isJump() {
			code = append(code, byte(long(i.op)))
			code = binary.NativeEndian.AppendUint32(code, uint32(starts[target]-int32(len(code))))
			continue
		}
		label, size := i.label()
		from := int32(len(code))
		code = append(code, c.Code[i.at:i.end]...)
		place := from + label - i.at
		if size == 4 {
			binary.NativeEndian.PutUint32(code[place:], uint32(starts[target]-place))
		}
	}
	return code, starts
}

const (
	// Of the engine's encoding: a step of the table is one byte for small differences.
	firstStep, lines, lowest = 1, 5, -1
)

// MoveLines returns a table of positions for code that was moved, nil starts for one that
// was not, and for a source whose positions are others, if position is not nil. A table
// that is not understood is returned as it is.
func MoveLines(table []byte, starts []int32, position func(line, column int) (int, int)) []byte {
	rest := table
	var head [2]int
	for i := range head {
		x, n := binary.Uvarint(rest)
		if n <= 0 {
			return table
		}
		head[i], rest = int(x), rest[n:]
	}
	at := func(line, column int) [2]int {
		if position == nil {
			return [2]int{line, column}
		}
		line, column = position(line+1, column+1)
		return [2]int{line - 1, column - 1}
	}
	was := at(head[0], head[1])
	out := binary.AppendUvarint(make([]byte, 0, 2*len(table)), uint64(was[0]))
	out = binary.AppendUvarint(out, uint64(was[1]))
	pc, before := 0, 0
	for len(rest) > 0 {
		steps, line, column, n := step(rest)
		pc += steps
		if n <= 0 || starts != nil && pc >= len(starts) {
			return table
		}
		rest = rest[n:]
		head[0] += line
		head[1] += column
		now, to := pc, at(head[0], head[1])
		if starts != nil {
			now = int(starts[pc])
		}
		out = append(out, 0)
		out = binary.AppendUvarint(out, uint64(now-before))
		out = binary.AppendVarint(out, int64(to[0]-was[0]))
		out = binary.AppendVarint(out, int64(to[1]-was[1]))
		before, was = now, to
	}
	return out
}

// step decodes the first step of a table: by how much the place in the code, the line and
// the column grow. n is how many bytes it has, 0 if it is no step.
func step(table []byte) (pc, line, column, n int) {
	first := int(table[0])
	n = 1
	if first == 0 {
		x, size := binary.Uvarint(table[n:])
		n += size
		y, more := binary.Varint(table[n:])
		if size <= 0 || more <= 0 {
			return 0, 0, 0, 0
		}
		pc, line, n = int(x), int(y), n+more
	} else {
		pc, line = (first-firstStep)/lines, (first-firstStep)%lines+lowest
	}
	z, size := binary.Varint(table[n:])
	if size <= 0 {
		return 0, 0, 0, 0
	}
	return pc, line, int(z), n + size
}
