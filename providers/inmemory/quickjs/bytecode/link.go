package bytecode

import (
	_ "unsafe" // for linkname

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// EvalFunction runs compiled code with the closures of a frame, as a direct eval does.
// The library exports it without them only.
//
//go:linkname EvalFunction modernc.org/libquickjs._JS_EvalFunctionInternal
func EvalFunction(tls *libc.TLS, ctx uintptr, fn, this lib.TJSValue, refs, frame uintptr) lib.TJSValue

//go:linkname opcodes modernc.org/libquickjs._opcode_info
var opcodes [lib.EOP_COUNT + lib.EOP_TEMP_END - lib.EOP_TEMP_START]lib.TJSOpCode
