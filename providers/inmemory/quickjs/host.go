package quickjs

import (
	"crypto/rand"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	lib "modernc.org/libquickjs"
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
		{"hasRef", 1, (*instance).hostHasRef},
		{"refresh", 1, (*instance).hostRefresh},
		{"nextTick", 1, (*instance).hostNextTick},
		{"inspect", 2, (*instance).hostInspect},
		{"format", 0, (*instance).hostFormat},
		{"classOf", 1, func(_ *instance, _ value, args []value) value { return newInt(int32(classOf(args[0]))) }},
		{"proxyTarget", 1, (*instance).hostProxyTarget},
		{"numberText", 1, func(in *instance, _ value, args []value) value {
			f, _ := number(args[0])
			return in.vm.newString(numberText(f))
		}},
		{"promise", 1, (*instance).hostPromise},
		{"entries", 2, (*instance).hostEntries},
		{"functionKind", 1, (*instance).hostFunctionKind},
		{"mapStack", 1, (*instance).hostMapStack},
		{"customInspect", 3 + len(inspectOptions), (*instance).hostCustomInspect},
		{"stylize", 2, (*instance).hostStylize},
		{"evalModule", 2, (*instance).hostEvalModule},
		{"candidates", 1, (*instance).hostCandidates},
		{"run", 0, func(in *instance, _ value, _ []value) value { return newNumber(float64(in.runs)) }},
		{"zip", 3, (*instance).hostZip},
		{"zone", 2, (*instance).hostZone},
		{"original", 1, (*instance).hostOriginal},
		{"callTool", 2, (*instance).hostCallTool},
		{"fetch", 1, (*instance).hostFetch},
		{"networked", 0, func(in *instance, _ value, _ []value) value { return newBool(in.program.Fetch != nil) }},
		{"leave", 0, func(in *instance, _ value, _ []value) value { in.leaving = true; return undefined }},
		{"memory", 0, func(in *instance, _ value, _ []value) value { return newNumber(float64(in.vm.memory())) }},
	}
}

func (in *instance) isFunction(v value) bool { return lib.XJS_IsFunction(in.vm.tls, in.vm.ctx, v) != 0 }

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

// maxWrite is how much of one output is passed on at a time.
const maxWrite = 1 << 20

// write passes output on to the host: of what is large, one part after the other,
// until the program has to end.
func (in *instance) write(kind codeinterp.Kind, p []byte) {
	for len(p) > 0 {
		part := p
		if len(part) > maxWrite {
			part = part[:wholeRunes(part[:maxWrite])]
		}
		// The watcher counts no time in the host, where OnOutput may take long.
		in.outside.Store(true)
		in.host.Write(kind, part)
		in.outside.Store(false)
		if p = p[len(part):]; in.vm.stopping.Load() {
			return
		}
	}
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
	b, ok := in.vm.bytesOf(args[1])
	if !ok {
		return exception
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
		// Of an exit code a process keeps the low eight bits.
		in.exitCode = int(uint8(int64(n)))
	}
	// For async functions, which take what is thrown: the engine is polled at each call
	// from now on, so that the program ends behind them too.
	in.exited = true
	// What called an async function or made a promise would go on: they take whatever
	// is thrown.
	in.vm.stop()
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
	s, ok := in.vm.span(args[0])
	if !ok {
		return in.vm.throw("TypeError", "random values need a typed array")
	}
	if !in.vm.borrow(s.n) {
		return exception
	}
	buf := make([]byte, s.n)
	_, _ = rand.Read(buf)
	s.write(buf)
	return in.resume(undefined)
}

func (in *instance) hostEncode(_ value, args []value) value {
	b, _, ok := in.vm.textBytes(args[0], 0)
	if !ok {
		return exception
	}
	return in.resume(in.vm.newBytes(b))
}

// newBytes returns a Uint8Array with a copy of b.
func (vm *vm) newBytes(b []byte) value {
	buf := vm.lent(asText(b), func(p uintptr) value { return lib.XJS_NewArrayBufferCopy(vm.tls, vm.ctx, p, lib.Tsize_t(len(b))) })
	if isException(buf) {
		return buf
	}
	defer vm.free(buf)
	argv := vm.tls.Alloc(3 * int(jsValueSize))
	defer vm.tls.Free(0)
	args := values(argv, 3)
	args[0], args[1], args[2] = buf, undefined, undefined
	return lib.XJS_NewTypedArray(vm.tls, vm.ctx, 3, argv, lib.EJS_TYPED_ARRAY_UINT8)
}
