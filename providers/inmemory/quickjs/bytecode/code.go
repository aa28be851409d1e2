package bytecode

import (
	"cmp"
	"encoding/binary"
	"slices"

	lib "modernc.org/libquickjs"
)

// An instruction is one of a function's code.
type instruction struct{ op, at, end int32 } // from at to end in the code

// shape returns an opcode's size and format.
func shape(op int32) lib.TJSOpCode {
	if op >= lib.EOP_TEMP_START {
		op += lib.EOP_TEMP_END - lib.EOP_TEMP_START
	}
	return opcodes[op]
}

// decode returns the instructions of a function, nil if it is no complete code.
func decode(code []byte) []instruction {
	list := make([]instruction, 0, len(code)/2)
	for at := int32(0); int(at) < len(code); {
		op := int32(code[at])
		size := int32(shape(op).Fsize)
		if size == 0 || int(at+size) > len(code) {
			return nil
		}
		list = append(list, instruction{op, at, at + size})
		at += size
	}
	return list
}

// find returns the instruction at a place, -1 if none begins there.
func find(list []instruction, place int32) int {
	k, ok := slices.BinarySearchFunc(list, place, func(i instruction, place int32) int { return cmp.Compare(i.at, place) })
	if !ok {
		return -1
	}
	return k
}

// label returns where an instruction's label is and how many bytes it has, 0 for none.
func (i instruction) label() (at, size int32) {
	switch shape(i.op).Ffmt {
	case lib.EOP_FMT_label8:
		return i.at + 1, 1
	case lib.EOP_FMT_label16:
		return i.at + 1, 2
	case lib.EOP_FMT_label, lib.EOP_FMT_label_u16:
		return i.at + 1, 4
	case lib.EOP_FMT_atom_label_u8, lib.EOP_FMT_atom_label_u16:
		return i.at + 5, 4
	}
	return 0, 0
}

// target returns where an instruction jumps to, -1 for one that does not.
func (i instruction) target(code []byte) int32 {
	at, size := i.label()
	switch size {
	case 1:
		return at + int32(int8(code[at]))
	case 2:
		return at + int32(int16(binary.NativeEndian.Uint16(code[at:])))
	case 4:
		return at + int32(binary.NativeEndian.Uint32(code[at:]))
	}
	return -1
}

// isGoto reports whether an instruction jumps always.
func (i instruction) isGoto() bool {
	return i.op == lib.EOP_goto || i.op == lib.EOP_goto8 || i.op == lib.EOP_goto16
}

// isJump reports whether an instruction is a goto or one with a condition.
func (i instruction) isJump() bool {
	switch i.op {
	case lib.EOP_if_false, lib.EOP_if_true, lib.EOP_if_false8, lib.EOP_if_true8:
		return true
	}
	return i.isGoto()
}

// long is the opcode of a jump whose label has four bytes.
func long(op int32) int32 {
	switch op {
	case lib.EOP_goto8, lib.EOP_goto16:
		return lib.EOP_goto
	case lib.EOP_if_false8:
		return lib.EOP_if_false
	case lib.EOP_if_true8:
		return lib.EOP_if_true
	}
	return op
}

// sets returns the local variable that an instruction stores to, -1 for none.
func (i instruction) sets(code []byte) int {
	switch op := i.op; {
	case op >= lib.EOP_put_loc0 && op <= lib.EOP_put_loc3:
		return int(op - lib.EOP_put_loc0)
	case op >= lib.EOP_set_loc0 && op <= lib.EOP_set_loc3:
		return int(op - lib.EOP_set_loc0)
	case op == lib.EOP_put_loc8, op == lib.EOP_set_loc8:
		return int(code[i.at+1])
	case op == lib.EOP_put_loc, op == lib.EOP_set_loc, op == lib.EOP_put_loc_check, op == lib.EOP_set_loc_check, op == lib.EOP_put_loc_check_init:
		return i.local(code)
	}
	return -1
}

// gets returns the local variable that an instruction loads, -1 for none.
func (i instruction) gets(code []byte) int {
	switch op := i.op; {
	case op >= lib.EOP_get_loc0 && op <= lib.EOP_get_loc3:
		return int(op - lib.EOP_get_loc0)
	case op == lib.EOP_get_loc8:
		return int(code[i.at+1])
	case op == lib.EOP_get_loc, op == lib.EOP_get_loc_check:
		return i.local(code)
	}
	return -1
}

// local returns the variable of an instruction whose operand is one.
func (i instruction) local(code []byte) int {
	return int(binary.NativeEndian.Uint16(code[i.at+1:]))
}

// constant returns the constant that an instruction uses, -1 for none.
func (i instruction) constant(code []byte) int {
	switch shape(i.op).Ffmt {
	case lib.EOP_FMT_const8:
		return int(code[i.at+1])
	case lib.EOP_FMT_const:
		return int(binary.NativeEndian.Uint32(code[i.at+1:]))
	}
	return -1
}
