package bytecode

import (
	"bytes"
	"testing"

	lib "modernc.org/libquickjs"
)

// mark is !7.1e-301,!a,!7.1e-301 where 7.1e-301 is the constant 0.
var mark = []byte{
	lib.EOP_push_const8, 0, lib.EOP_lnot, lib.EOP_drop,
	lib.EOP_get_loc0, lib.EOP_lnot, lib.EOP_drop,
	lib.EOP_push_const8, 0, lib.EOP_lnot, lib.EOP_drop,
}

func function(parts ...[]byte) Function {
	return Function{
		Code: bytes.Join(parts, nil), Locals: 1, Constants: 2,
		Captured: func(int) bool { return true },
		Scoped:   func(int) bool { return true },
		Declared: func(int) bool { return false },
		Mark:     func(constant int) bool { return constant == 0 },
	}
}

// Nothing but a whole mark without a jump into it is replaced: the engine's memory depends
// on the code.
func TestCorrectReplacesOnlyMarks(t *testing.T) {
	end := []byte{lib.EOP_return_undef}
	closed := []byte{lib.EOP_close_loc, 0, 0, lib.EOP_return_undef}
	for name, f := range map[string]Function{
		"mark":         function(mark, end),
		"jump to mark": function([]byte{lib.EOP_undefined, lib.EOP_if_true8, 1}, mark, end),
	} {
		r, ok := Correct(f)
		if !ok || !bytes.HasSuffix(r.Code, closed) || bytes.Contains(r.Code, []byte{lib.EOP_push_const8}) {
			t.Errorf("%s: %v, %v", name, r.Code, ok)
		}
	}
	jump := func(to byte) []byte { return []byte{lib.EOP_undefined, lib.EOP_if_true8, 1 + to} }
	for name, f := range map[string]Function{
		"a number alone":         function(mark[:2], []byte{lib.EOP_return}),
		"an argument":            function(mark[:2], []byte{lib.EOP_get_loc0}, mark[:2], []byte{lib.EOP_array_from, 3, 0, lib.EOP_return}),
		"no end":                 function(mark[:7], end),
		"cut off":                function(mark[:10]),
		"nothing behind it":      function(mark),
		"another constant":       function(mark[:4], []byte{lib.EOP_push_const8, 1, lib.EOP_lnot, lib.EOP_drop}, mark[7:], end),
		"another operator":       function(mark[:5], []byte{lib.EOP_neg}, mark[6:], end),
		"jump into the first":    function(jump(2), mark, end),
		"jump to a variable":     function(jump(4), mark, end),
		"jump to the end's drop": function(jump(10), mark, end),
		"jump between":           function(jump(1), mark, end),
		"jump out":               function(jump(100), mark, end),
		"a variable too many":    function(mark[:4], []byte{lib.EOP_get_loc1}, mark[5:], end),
		"underflow":              function(mark, []byte{lib.EOP_drop}, end),
		"unbalanced":             function([]byte{lib.EOP_undefined, lib.EOP_undefined, lib.EOP_if_true8, 2, lib.EOP_undefined}, mark, end),
	} {
		if r, ok := Correct(f); ok {
			t.Errorf("%s: accepted: %v", name, r.Code)
		}
	}
}

// Code that a correction would break does not run.
func TestVerify(t *testing.T) {
	f := function([]byte{lib.EOP_get_loc0, lib.EOP_get_loc0, lib.EOP_drop, lib.EOP_return})
	for name, tt := range map[string]struct {
		gone   int
		insert []byte
		ok     bool
	}{
		"same":              {gone: -1, ok: true},
		"closed":            {gone: -1, insert: []byte{lib.EOP_close_loc, 0, 0}, ok: true},
		"no such variable":  {gone: -1, insert: []byte{lib.EOP_close_loc, 1, 0}},
		"pushed":            {gone: -1, insert: []byte{lib.EOP_undefined}},
		"dropped":           {gone: -1, insert: []byte{lib.EOP_drop}},
		"needs more":        {gone: -1, insert: []byte{lib.EOP_undefined, lib.EOP_drop}},
		"without a push":    {gone: 1},
		"without the end":   {gone: 3},
		"with half an code": {gone: -1, insert: []byte{lib.EOP_close_loc, 0}},
	} {
		c := &correction{Function: f, list: decode(f.Code), labels: map[int32]bool{}, insert: map[int][]byte{}, gone: map[int]bool{}}
		c.insert[2] = tt.insert
		if tt.gone >= 0 {
			c.gone[tt.gone] = true
		}
		if ok := c.verify(c.write()); ok != tt.ok {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
