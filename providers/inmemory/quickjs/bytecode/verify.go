package bytecode

import (
	"encoding/binary"

	lib "modernc.org/libquickjs"
)

// verify reports whether corrected code is safe to run: each jump leads to an instruction,
// each instruction that stays finds as many values on the stack as before, the stack holds
// at most extra values more, and the variables and constants exist.
func (c *correction) verify(code []byte, starts []int32) bool {
	list := decode(code)
	was, most := depths(c.Code, c.list)
	is, needs := depths(code, list)
	if was == nil || is == nil || needs > most+int32(c.stack) {
		return false
	}
	for k, i := range c.list {
		if c.gone[k] {
			continue
		}
		to := find(list, starts[i.at]+int32(len(c.insert[k])))
		if to < 0 || is[to] != was[k] || list[to].op != long(i.op) && list[to].op != i.op {
			return false
		}
	}
	for _, i := range list {
		if !c.inRange(code, i) {
			return false
		}
	}
	return true
}

// inRange reports whether the variable or constant of an instruction exists.
func (c *correction) inRange(code []byte, i instruction) bool {
	switch shape(i.op).Ffmt {
	case lib.EOP_FMT_loc:
		return i.local(code) < c.Locals
	case lib.EOP_FMT_loc8:
		return int(code[i.at+1]) < c.Locals
	case lib.EOP_FMT_arg:
		return i.local(code) < c.Args
	case lib.EOP_FMT_var_ref:
		return i.local(code) < c.Closures
	case lib.EOP_FMT_const, lib.EOP_FMT_const8:
		return i.constant(code) < c.Constants
	}
	return true
}

// A frame is what the stack is like before an instruction.
type frame struct {
	depth int32 // values on the stack, -1 where nothing leads to
	catch int32 // index of the instruction that began the innermost catch, or -1
}

// depths returns for each instruction how many values are on the stack before it, -1 if it
// does not run, and how many there are at most. It returns nil for code that would not run
// well. It follows the engine's compute_stack_size.
func depths(code []byte, list []instruction) (depth []int32, most int32) {
	depth, catch := make([]int32, len(list)), make([]int32, len(list))
	for k := range depth {
		depth[k] = -1
	}
	var todo []int32
	reach := func(k int, f frame) bool {
		if k < 0 || k >= len(list) || f.depth < 0 || depth[k] >= 0 && (depth[k] != f.depth || catch[k] != f.catch) {
			return false
		}
		most = max(most, f.depth)
		if depth[k] < 0 {
			depth[k], catch[k] = f.depth, f.catch
			todo = append(todo, int32(k))
		}
		return true
	}
	// outside returns the stack as it was before a catch, with the catch's own value.
	outside := func(from int32) frame {
		f := frame{depth[from], catch[from]}
		if list[from].op != lib.EOP_catch {
			f.depth++
		}
		return f
	}
	if !reach(0, frame{0, -1}) {
		return nil, 0
	}
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i, f := list[k], frame{depth[k], catch[k]}
		if f.depth < i.pops(code) {
			return nil, 0
		}
		f.depth += int32(shape(i.op).Fn_push) - i.pops(code)
		most = max(most, f.depth)
		if t := i.target(code); t >= 0 {
			if !reach(find(list, t), frame{f.depth + i.onJump(), f.catch}) {
				return nil, 0
			}
		}
		switch level := f.depth; i.op {
		case lib.EOP_catch, lib.EOP_for_of_start, lib.EOP_for_await_of_start:
			f.catch = k
		case lib.EOP_nip, lib.EOP_nip1, lib.EOP_drop, lib.EOP_iterator_close:
			switch i.op {
			case lib.EOP_nip, lib.EOP_nip1:
				level--
			case lib.EOP_iterator_close:
				level += 2
			}
			if f.catch >= 0 && outside(f.catch).depth == level {
				f.catch = catch[f.catch]
			}
		case lib.EOP_nip_catch:
			if f.catch < 0 {
				return nil, 0
			}
			f = outside(f.catch)
			f.depth++
		}
		if !i.ends() && !reach(int(k)+1, f) {
			return nil, 0
		}
	}
	return depth, most
}

// pops returns how many values an instruction takes from the stack.
func (i instruction) pops(code []byte) int32 {
	n := int32(shape(i.op).Fn_pop)
	switch shape(i.op).Ffmt {
	case lib.EOP_FMT_npop, lib.EOP_FMT_npop_u16:
		n += int32(binary.NativeEndian.Uint16(code[i.at+1:]))
	case lib.EOP_FMT_npopx:
		n += i.op - lib.EOP_call0
	}
	return n
}

// onJump returns how many values more there are where an instruction jumps to than behind
// it.
func (i instruction) onJump() int32 {
	switch i.op {
	case lib.EOP_gosub, lib.EOP_with_get_var, lib.EOP_with_delete_var:
		return 1
	case lib.EOP_with_make_ref, lib.EOP_with_get_ref:
		return 2
	case lib.EOP_with_put_var:
		return -1
	}
	return 0
}

// ends reports whether the next instruction never follows this one.
func (i instruction) ends() bool {
	switch i.op {
	case lib.EOP_ret, lib.EOP_throw, lib.EOP_throw_error, lib.EOP_return, lib.EOP_return_undef,
		lib.EOP_return_async, lib.EOP_tail_call, lib.EOP_tail_call_method:
		return true
	}
	return i.isGoto()
}
