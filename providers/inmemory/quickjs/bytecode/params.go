package bytecode

import (
	"encoding/binary"

	lib "modernc.org/libquickjs"
)

// A Param is a parameter of a function whose parameters have defaults. The engine gives
// it two variables: Local is that of the other parameters and of closures in them, Body
// that of the function's body, which is an argument or another local variable.
type Param struct {
	Local, Body int
	Arg         bool
}

// Assigned reports whether code stores to a local variable more than once.
func Assigned(code []byte, local int) bool {
	n := 0
	for at := 0; at < len(code); {
		i := instruction{op: int32(code[at]), at: int32(at)}
		if i.sets(code) == local || i.adds(code) == local {
			n++
		}
		at += max(1, int(shape(i.op).Fsize))
	}
	return n > 1
}

// params makes one variable of the two that a parameter has: what is stored to Local is
// stored to Body as well, and what was loaded from Local comes from Body. The closures
// that capture Local have to capture Body then.
func (c *correction) params() {
	for _, p := range c.Params {
		if !c.isParam(p) {
			continue
		}
		c.joined = append(c.joined, p)
		for k, i := range c.list {
			switch {
			case i.op == lib.EOP_close_loc && i.local(c.Code) == p.Local:
				c.gone[k] = true
			case i.sets(c.Code) == p.Local:
				c.insert[k] = p.store(append(c.insert[k], lib.EOP_dup))
				c.stack = 1
			case i.adds(c.Code) == p.Local && k+1 < len(c.list):
				c.insert[k+1] = p.store(append(c.insert[k+1], lib.EOP_get_loc8, c.Code[i.at+1]))
				c.stack = 1
			case i.gets(c.Code) != p.Local:
			case k+1 < len(c.list) && !p.Arg && c.list[k+1].sets(c.Code) == p.Body: // the copy for the body
				c.gone[k], c.gone[k+1] = true, true
			default:
				if i.op == lib.EOP_get_loc_check {
					c.insert[k] = append(append(c.insert[k], c.Code[i.at:i.end]...), lib.EOP_drop)
				}
				c.insert[k] = p.load(c.insert[k])
				c.gone[k] = true
			}
		}
	}
}

// isParam reports whether Local is the variable that the engine makes for a parameter,
// and not that of a block in the body which has the same name: only the former is stored
// right beside the argument, or loaded right before the body's variable is stored.
func (c *correction) isParam(p Param) bool {
	for k := 1; k < len(c.list); k++ {
		i, before := c.list[k], c.list[k-1]
		if p.Arg && (i.sets(c.Code) == p.Local && before.argument(c.Code) == p.Body || before.sets(c.Code) == p.Local && i.argument(c.Code) == p.Body) ||
			!p.Arg && before.gets(c.Code) == p.Local && i.sets(c.Code) == p.Body {
			return true
		}
	}
	return false
}

func (p Param) store(code []byte) []byte {
	if p.Arg {
		return binary.NativeEndian.AppendUint16(append(code, lib.EOP_put_arg), uint16(p.Body))
	}
	return binary.NativeEndian.AppendUint16(append(code, lib.EOP_put_loc), uint16(p.Body))
}

func (p Param) load(code []byte) []byte {
	if p.Arg {
		return binary.NativeEndian.AppendUint16(append(code, lib.EOP_get_arg), uint16(p.Body))
	}
	return binary.NativeEndian.AppendUint16(append(code, lib.EOP_get_loc), uint16(p.Body))
}

// adds returns the local variable that an instruction increases, -1 for none.
func (i instruction) adds(code []byte) int {
	switch i.op {
	case lib.EOP_inc_loc, lib.EOP_dec_loc, lib.EOP_add_loc:
		return int(code[i.at+1])
	}
	return -1
}

// argument returns the argument that an instruction loads or stores, -1 for none.
func (i instruction) argument(code []byte) int {
	switch op := i.op; {
	case op >= lib.EOP_get_arg0 && op <= lib.EOP_set_arg3:
		return int(op-lib.EOP_get_arg0) % 4
	case op == lib.EOP_get_arg, op == lib.EOP_put_arg, op == lib.EOP_set_arg:
		return i.local(code)
	}
	return -1
}
