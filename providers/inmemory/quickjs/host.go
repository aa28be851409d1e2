//go:build !(386 || arm || s390x)

package quickjs

import (
	"crypto/rand"
	"encoding/base64"
	"math"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	lib "modernc.org/libquickjs"
)

const (
	// maxDelay is the longest delay of a timer; as in node, longer ones mean
	// 1 ms.
	maxDelay = math.MaxInt32 * time.Millisecond

	// asciiSpace is what base64 text may be broken up by.
	asciiSpace = " \t\n\f\r"
)

// globalFunctions are the host functions that are globals.
func globalFunctions() []function {
	return []function{
		{"setTimeout", 2, func(in *instance, _ value, args []value) value { return in.setTimer(args, false) }},
		{"setInterval", 2, func(in *instance, _ value, args []value) value { return in.setTimer(args, true) }},
		{"setImmediate", 1, (*instance).setImmediate},
		{"clearTimeout", 1, (*instance).clearTimer},
		{"clearInterval", 1, (*instance).clearTimer},
		{"clearImmediate", 1, (*instance).clearTimer},
		{"queueMicrotask", 1, (*instance).queueMicrotask},
		{"atob", 1, (*instance).atob},
		{"btoa", 1, (*instance).btoa},
		{"display", 3, (*instance).display},
		{"updateDisplay", 3, (*instance).updateDisplay},
		{"clearOutput", 1, (*instance).clearOutput},
	}
}

// hostFunctions are those that only the libraries see.
func hostFunctions() []function {
	return []function{
		{"write", 2, (*instance).hostWrite},
		{"exit", 1, (*instance).hostExit},
		{"setExitCode", 1, (*instance).hostSetExitCode},
		{"env", 0, (*instance).hostEnv},
		{"cwd", 0, func(in *instance, _ value, _ []value) value { return in.vm.newString(in.guestPath(in.cwd)) }},
		{"chdir", 1, (*instance).hostChdir},
		{"now", 0, func(in *instance, _ value, _ []value) value {
			return newNumber(float64(time.Since(in.start).Microseconds()) / 1000)
		}},
		{"timeOrigin", 0, func(in *instance, _ value, _ []value) value {
			return newNumber(float64(in.start.UnixMicro()) / 1000)
		}},
		{"random", 1, (*instance).hostRandom},
		{"encode", 1, (*instance).hostEncode},
		{"decode", 2, (*instance).hostDecode},
		{"hash", 3, (*instance).hostHash},
		{"fs", 4, (*instance).hostFS},
		{"stdin", 1, (*instance).hostStdin},
		{"ref", 2, (*instance).hostRef},
		{"inspect", 2, (*instance).hostInspect},
		{"format", 0, (*instance).hostFormat},
		{"classOf", 1, func(_ *instance, _ value, args []value) value { return newInt(int32(classOf(args[0]))) }},
		{"proxyTarget", 1, (*instance).hostProxyTarget},
		{"promise", 1, (*instance).hostPromise},
		{"functionKind", 1, (*instance).hostFunctionKind},
		{"mapStack", 1, (*instance).hostMapStack},
		{"customInspect", 3, (*instance).hostCustomInspect},
		{"evalModule", 2, (*instance).hostEvalModule},
		{"run", 0, func(in *instance, _ value, _ []value) value { return newNumber(float64(in.runs)) }},
		{"memory", 0, func(in *instance, _ value, _ []value) value { return newNumber(float64(in.vm.memory())) }},
	}
}

func (in *instance) isFunction(v value) bool { return lib.XJS_IsFunction(in.vm.tls, in.vm.ctx, v) != 0 }

func (in *instance) setTimer(args []value, repeat bool) value {
	if !in.isFunction(args[0]) {
		return in.vm.throwWith("TypeError", "the callback of a timer must be a function", map[string]string{"code": "ERR_INVALID_ARG_TYPE"})
	}
	var ms float64
	if n, ok := number(args[1]); ok {
		ms = n
	} else if !isUndefined(args[1]) && tag(args[1]) != lib.EJS_TAG_NULL {
		if lib.XJS_ToFloat64(in.vm.tls, in.vm.ctx, in.vm.scratch, args[1]) < 0 {
			return exception
		}
		ms = *at[float64](in.vm.scratch)
	}
	d := time.Duration(ms * float64(time.Millisecond))
	if !(ms >= 1) || ms > float64(maxDelay/time.Millisecond) {
		d = time.Millisecond
	}
	t := &timer{at: time.Now().Add(d), every: -1, index: -1}
	if repeat {
		t.every = d
	}
	return in.addTimer(t, args[0], args[min(2, len(args)):])
}

func (in *instance) setImmediate(_ value, args []value) value {
	if !in.isFunction(args[0]) {
		return in.vm.throw("TypeError", "the callback of setImmediate must be a function")
	}
	return in.addTimer(&timer{at: time.Now(), every: -1, index: -1}, args[0], args[1:])
}

func (in *instance) addTimer(t *timer, fn value, args []value) value {
	if len(in.loop.byID) >= maxTimers {
		return in.vm.throw("RangeError", "too many timers")
	}
	t.fn = in.vm.dup(fn)
	for _, a := range args {
		t.args = append(t.args, in.vm.dup(a))
	}
	in.loop.add(t)
	return newInt(t.id)
}

func (in *instance) clearTimer(_ value, args []value) value {
	if id, ok := number(args[0]); ok {
		in.loop.remove(in.vm, int32(id))
	}
	return undefined
}

// hostRef makes a timer keep the program running, or not.
func (in *instance) hostRef(_ value, args []value) value {
	id, _ := number(args[0])
	if t := in.loop.byID[int32(id)]; t != nil {
		t.weak = tag(args[1]) == lib.EJS_TAG_BOOL && intOf(args[1]) == 0
	}
	return undefined
}

func (in *instance) queueMicrotask(_ value, args []value) value {
	if !in.isFunction(args[0]) {
		return in.vm.throw("TypeError", "the callback of queueMicrotask must be a function")
	}
	argv := in.vm.tls.Alloc(int(jsValueSize))
	defer in.vm.tls.Free(int(jsValueSize))
	*at[value](argv) = args[0]
	if lib.XJS_EnqueueJob(in.vm.tls, in.vm.ctx, funcPtr(cMicrotask), 1, argv) < 0 {
		return exception
	}
	return undefined
}

// atob and btoa work on strings of the characters 0 to 255.
func (in *instance) atob(_ value, args []value) value {
	s, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	if strings.ContainsAny(s, asciiSpace) {
		s = strings.Map(func(r rune) rune {
			if strings.ContainsRune(asciiSpace, r) {
				return -1
			}
			return r
		}, s)
	}
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return in.vm.throwWith("InvalidCharacterError", "the string to be decoded is not correctly encoded", nil)
	}
	return in.vm.newString(latin1(b))
}

// latin1 returns the string whose characters are the bytes.
func latin1(b []byte) string {
	high := 0
	for _, c := range b {
		high += int(c >> 7)
	}
	var s strings.Builder
	s.Grow(len(b) + high)
	for _, c := range b {
		if c < utf8.RuneSelf {
			s.WriteByte(c)
		} else {
			s.WriteByte(0xC0 | c>>6)
			s.WriteByte(0x80 | c&0x3F)
		}
	}
	return s.String()
}

func (in *instance) btoa(_ value, args []value) value {
	s, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xFF {
			return in.vm.throwWith("InvalidCharacterError", "the string to be encoded contains characters beyond U+00FF", nil)
		}
		b = append(b, byte(r))
	}
	return in.vm.newString(base64.StdEncoding.EncodeToString(b))
}

// write passes output on to the host.
func (in *instance) write(kind codeinterp.Kind, p []byte) {
	if len(p) == 0 {
		return
	}
	in.outside.Store(true)
	in.host.Write(kind, p)
	in.outside.Store(false)
}

func (in *instance) show(o codeinterp.Output) {
	in.outside.Store(true)
	in.host.Show(o)
	in.outside.Store(false)
}

// resume returns v, from a host function that was in the host for long, unless
// the program has to end meanwhile.
func (in *instance) resume(v value) value {
	if in.stop.Err() != nil {
		in.vm.stopping.Store(true)
	}
	if in.vm.stopping.Load() {
		in.vm.free(v)
		return in.vm.throwUncatchable()
	}
	return v
}

// hostWrite writes a string or bytes to stdout (1) or stderr (2).
func (in *instance) hostWrite(_ value, args []value) value {
	b, ok := in.vm.bytes(args[1])
	if !ok {
		s, ok := in.vm.text(args[1])
		if !ok {
			return exception
		}
		b = []byte(s)
	}
	kind := codeinterp.Stdout
	if n, _ := number(args[0]); n == 2 {
		kind = codeinterp.Stderr
	}
	in.write(kind, b)
	return in.resume(newBool(true))
}

// hostExit ends the program.
func (in *instance) hostExit(_ value, args []value) value {
	if n, ok := number(args[0]); ok {
		in.exitCode = int(uint8(int64(n)))
	}
	in.exited = true
	in.vm.stopping.Store(true)
	return in.vm.throwUncatchable()
}

func (in *instance) hostSetExitCode(_ value, args []value) value {
	n, _ := number(args[0])
	in.exitCode = int(uint8(int64(n)))
	return undefined
}

func (in *instance) hostEnv(value, []value) value {
	obj := lib.XJS_NewObject(in.vm.tls, in.vm.ctx)
	for _, k := range sortedKeys(in.program.Env) {
		in.vm.set(obj, k, in.vm.newString(in.program.Env[k]), lib.MJS_PROP_C_W_E)
	}
	return obj
}

// hostRandom fills bytes at random.
func (in *instance) hostRandom(_ value, args []value) value {
	b, ok := in.vm.bytes(args[0])
	if !ok {
		return in.vm.throw("TypeError", "random values need a typed array")
	}
	_, _ = rand.Read(b)
	return undefined
}

func (in *instance) hostEncode(_ value, args []value) value {
	s, ok := in.vm.text(args[0])
	if !ok {
		return exception
	}
	return in.vm.newBytes([]byte(s))
}

// hostDecode decodes UTF-8; where the second argument is true it is strict.
func (in *instance) hostDecode(_ value, args []value) value {
	b, ok := in.vm.bytes(args[0])
	if !ok {
		return in.vm.throw("TypeError", "decode needs a buffer or a view of one")
	}
	if utf8.Valid(b) {
		return in.vm.newString(string(b))
	}
	if tag(args[1]) == lib.EJS_TAG_BOOL && intOf(args[1]) != 0 {
		return in.vm.throwWith("TypeError", "the encoded data was not valid for encoding utf-8", map[string]string{"code": "ERR_ENCODING_INVALID_ENCODED_DATA"})
	}
	return in.vm.newString(replaceInvalid(b))
}

// bytes returns the memory of an ArrayBuffer, or of a view of one, valid until
// the engine runs on.
func (vm *vm) bytes(v value) ([]byte, bool) {
	class := classOf(v)
	switch {
	case class == lib.EJS_CLASS_ARRAY_BUFFER || class == lib.EJS_CLASS_SHARED_ARRAY_BUFFER:
		return vm.bufferBytes(v, 0, -1)
	case class > lib.EJS_CLASS_SHARED_ARRAY_BUFFER && class <= lib.EJS_CLASS_DATAVIEW:
		offset, length := vm.scratch, vm.scratch+8
		if class == lib.EJS_CLASS_DATAVIEW {
			return vm.viewBytes(v)
		}
		buf := lib.XJS_GetTypedArrayBuffer(vm.tls, vm.ctx, v, offset, length, 0)
		if isException(buf) {
			vm.dropException()
			return nil, false
		}
		defer vm.free(buf)
		return vm.bufferBytes(buf, int(*at[lib.Tsize_t](offset)), int(*at[lib.Tsize_t](length)))
	}
	return nil, false
}

func (vm *vm) bufferBytes(v value, offset, length int) ([]byte, bool) {
	size := vm.tls.Alloc(8)
	defer vm.tls.Free(8)
	p := lib.XJS_GetArrayBuffer(vm.tls, vm.ctx, size, v)
	n := int(*at[lib.Tsize_t](size))
	if p == 0 {
		if lib.XJS_HasException(vm.tls, vm.ctx) != 0 {
			vm.dropException()
		}
		return []byte{}, length <= 0
	}
	if length < 0 {
		length = n - offset
	}
	if offset+length > n {
		return nil, false
	}
	return unsafe.Slice(at[byte](p), n)[offset : offset+length : offset+length], true
}

func (vm *vm) viewBytes(v value) ([]byte, bool) {
	buf := vm.get(v, "buffer")
	offset := vm.get(v, "byteOffset")
	length := vm.get(v, "byteLength")
	defer vm.free(buf)
	if isException(buf) || isException(offset) || isException(length) {
		vm.dropException()
		return nil, false
	}
	o, _ := number(offset)
	n, _ := number(length)
	if class := classOf(buf); class != lib.EJS_CLASS_ARRAY_BUFFER && class != lib.EJS_CLASS_SHARED_ARRAY_BUFFER || o < 0 || n < 0 {
		return nil, false
	}
	return vm.bufferBytes(buf, int(o), int(n))
}

// newBytes returns a Uint8Array with a copy of b.
func (vm *vm) newBytes(b []byte) value {
	n := uintptr(len(b))
	p := vm.heap.alloc(max(n, 1))
	if p == 0 {
		return lib.XJS_ThrowOutOfMemory(vm.tls, vm.ctx)
	}
	copy(unsafe.Slice(at[byte](p), max(n, 1)), b)
	buf := lib.XJS_NewArrayBufferCopy(vm.tls, vm.ctx, p, lib.Tsize_t(n))
	vm.heap.release(p)
	if isException(buf) {
		return buf
	}
	defer vm.free(buf)
	argv := vm.tls.Alloc(3 * int(jsValueSize))
	defer vm.tls.Free(0)
	args := unsafe.Slice(at[value](argv), 3)
	args[0], args[1], args[2] = buf, undefined, undefined
	return lib.XJS_NewTypedArray(vm.tls, vm.ctx, 3, argv, lib.EJS_TYPED_ARRAY_UINT8)
}
