package science

import "fmt"

// Code that is looked for. Numbers of types are numpy's: 7 and 8 are C's long, here of 32
// bits, 9 and 10 long long.
const (
	long     = "41 07" // i32.const 7
	longLong = "41 09"

	descriptor = "10 bdd3808000" // a call of PyArray_DescrFromType

	indexType    = "28 02 dc98978d00" // the class of the descriptor of indices
	longLongType = "28 02 b498978d00"

	pythonIntType = 26419088 // the class of the type of Python ints

	noneAt  = 26115596  // of None
	powerAt = 0x1a5ef98 // where the address of np.power is

	// The addresses in the first two.
	indexTypeAt    = 0x1a5cc5c
	longLongTypeAt = 0x1a5cc34
)

// replacements are what makes long long numpy's default integer. Indices stay long.
func replacements() map[string][]replacement {
	one := func(old, new string) []replacement { return []replacement{{old, new, 1}} }
	typed := one(long+descriptor, longLong+descriptor)
	r := map[string][]replacement{
		"int_default_descriptor":          typed,
		"discover_descriptor_from_pylong": {typed[0], {long + longLong, longLong + longLong, 1}},
		"int_common_dtype":                {{indexType, longLongType, 2}},
		"can_cast_pyscalar_scalar_to":     one(long+"41 0c 41 0f", longLong+"41 0c 41 0f"),
		"_convert_from_any":               typed, // dtype(int)
		"PyArray_ArangeObj":               typed,
		"convert_ufunc_arguments":         one(long+"46", longLong+"46"), // whether an array of an int has the default type
		"py_resolve_dtypes_generic":       {{long + descriptor, longLong + descriptor, 2}},
		"_multiarray_umath_exec":          typed,
		"reducelike_promote_and_resolve": { // sums of booleans, and of what has less than 64 bits, signed or not
			{long + "21 09", longLong + "21 09", 1},
			{"41 03 4d", "41 07 4d", 1},
			{"20 0b 2d 00 80e3c38a00 21 09", "20 0b 2d 00 80e3c38a00 41 02 6a 21 09", 1},
		},
		// A Python int that is stored as the operand of a call.
		"ufunc_generic_fastcall": one("20 05 20 09 36 02 b002"+long+descriptor, "20 05 20 09 ac 37 03 b002"+longLong+descriptor),
	}
	// sklearn's arrays of dtype=int are buffers of C longs.
	for fuse := range 2 {
		for _, f := range []string{"tracking_selection", "pool", "reservoir_sampling"} {
			name := fmt.Sprintf("__pyx_fuse_%d__pyx_f_7sklearn_5utils_7_random__sample_without_replacement_with_%s", fuse, f)
			r[name] = []replacement{{"41 f4b2b98c00 36", "41 f0becd0c 36", 2}}
		}
	}
	return r
}

// A prefix is what a function with so many parameters does first.
type prefix struct {
	parameters int
	make       func(*assembler)
}

// prefixes are what functions do first.
func prefixes() map[string]prefix {
	p := map[string]prefix{
		// The letters l and L mean 64 bits, as elsewhere.
		"PyArray_DescrFromType": {1, func(a *assembler) {
			for _, c := range []struct{ letter, number int32 }{{'l', 9}, {'L', 10}} {
				a.get(0).i32(c.letter).op(opEq).op(opIf, void).i32(c.number).set(0).op(opEnd)
			}
		}},
		// i4 is C's int: long is for indices alone.
		"PyArray_TypestrConvert": {2, func(a *assembler) {
			const size, kind = 0, 1
			a.get(kind).i32('i').op(opEq).get(size).i32(4).op(opEq).op(opAnd).op(opIf, void).i32(5).op(opReturn).op(opEnd)
		}},
		// Arrays of 64 bits may be used as indices: such a conversion is of the same kind.
		"PyArray_FromArray": {3, func(a *assembler) {
			const array, wanted, flags = 0, 1, 2
			a.op(opBlock, void)
			a.get(wanted).op(opEqz).op(opBrIf, 0)
			a.get(wanted).load(16).i32(7).op(opNe).op(opBrIf, 0)
			a.get(array).load(28).load(16).i32(9).op(opNe).op(opBrIf, 0)
			a.get(flags).i32(1 << 26).op(opOr).set(flags).op(opEnd)
		}},
		"promote_and_get_ufuncimpl": {7, widen},
		"LONG_dot":                  {7, dot},
		"DOUBLE_divide":             {4, divide},
		// Not array_power, which expects an array where the power is 2.
		"long_power": {3, func(a *assembler) {
			const base, exponent, modulo = 0, 1, 2
			a.op(opBlock, void).get(modulo).i32(noneAt).op(opNe).op(opBrIf, 0)
			a.get(base).get(exponent).i32(0).load(powerAt).call("PyArray_GenericBinaryFunction").op(opReturn).op(opEnd)
		}},
	}
	for name, f := range map[string]func(*assembler, *loop){"add": operation(0x7c), "subtract": operation(0x7d),
		"multiply": operation(0x7e), "square": square, "left_shift": shift, "power": power} {
		p["LONG_"+name] = prefix{4, func(a *assembler) { checkOverflow(a, 0, name == "square", f) }}
	}
	for _, kind := range []string{"_aligned_contig", "_contig", "_aligned", ""} {
		p[kind+"_cast_longlong_to_long"] = prefix{5, narrow}
	}
	return p
}
