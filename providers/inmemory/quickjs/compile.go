package quickjs

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/typescript"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs/bytecode"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// Of a local variable's flags.
const (
	localLexical   = 0x2
	localCaptured  = 0x4
	localKindShift = 4

	closureKind = 0x7 // of a closure's variable: whose it is
)

// compileFunc is how the engine compiles a source and runs it, whatever it is for: a
// program, a module, eval, new Function.
type compileFunc = func(tls *libc.TLS, ctx uintptr, this value, input uintptr, size lib.Tsize_t, file uintptr, flags, scope int32) value

// compileStrict compiles what stands for a module: a script that is strict and has no
// this.
func (vm *vm) compileStrict(code, name string) value {
	fn := vm.eval(code, name, lib.MJS_EVAL_TYPE_GLOBAL|lib.MJS_EVAL_FLAG_COMPILE_ONLY|lib.MJS_EVAL_FLAG_ASYNC|lib.MJS_EVAL_FLAG_STRICT)
	if !isException(fn) {
		f := at[lib.TJSFunctionBytecode](ptr(fn))
		code := span{f.Fbyte_code_buf, int(f.Fbyte_code_len)}
		b := code.bytes()
		bytecode.ClearThis(b)
		code.write(b)
	}
	return fn
}

// correctCompiled makes the realm correct what it compiles before that runs.
func (vm *vm) correctCompiled() {
	compiler := &at[lib.TJSContext](vm.ctx).Feval_internal
	vm.engineCompiler = *compiler
	vm.compiler = *(*compileFunc)(unsafe.Pointer(&vm.engineCompiler))
	*compiler = funcPtr(cCompile)
	vm.newMark = newMark
}

// cCompile is the engine's own compiler with a correction of the code.
func cCompile(tls *libc.TLS, ctx uintptr, this value, input uintptr, size lib.Tsize_t, file uintptr, flags, scope int32) value {
	m := at[vm](lib.XJS_GetContextOpaque(tls, ctx))
	fn := m.compileCorrected(ctx, span{input, int(size)}, file, flags, scope)
	if isException(fn) || flags&lib.MJS_EVAL_FLAG_COMPILE_ONLY != 0 {
		return fn
	}
	var refs, frame uintptr
	if flags&lib.MJS_EVAL_TYPE_MASK == lib.MJS_EVAL_TYPE_DIRECT {
		frame = at[lib.TJSRuntime](m.rt).Fcurrent_stack_frame
		// A function has its code, and then the variables that it captures.
		refs = (*[2]uintptr)(unsafe.Pointer(&at[lib.TJSObject](ptr(at[lib.TJSStackFrame](frame).Fcur_func)).Fu))[1]
	}
	return bytecode.EvalFunction(tls, ctx, fn, this, refs, frame)
}

// Why a program that compiles does not run.
var (
	errMarks  = errors.New("it has numbers that the engine needs itself")
	errMemory = errors.New("out of memory")
)

func (vm *vm) refuse(why error) value {
	return vm.throw("SyntaxError", "Loops with let and continue are not supported in this program: "+why.Error())
}

// compileCorrected compiles a source and corrects its code.
func (vm *vm) compileCorrected(ctx uintptr, source span, file uintptr, flags, scope int32) value {
	mark := vm.borrowed
	defer func() { vm.giveBack(mark) }()
	m, refusal := vm.markedSource(source)
	flags |= lib.MJS_EVAL_FLAG_COMPILE_ONLY
	compile := func(addr uintptr, n int) value {
		return vm.compiler(vm.tls, ctx, undefined, addr, lib.Tsize_t(n), file, flags, scope)
	}
	compileText := func(text string) value {
		return vm.lent(text, func(p uintptr) value { return compile(p, len(text)) })
	}
	var fn value
	if m == nil {
		fn = compile(source.addr, source.n)
	} else if fn = compileText(m.Code); isException(fn) {
		// The error is to be about the program's own text. Modules that it imports may
		// have been compiled where that was.
		vm.dropException()
		fn = compileText(m.source)
		m, refusal = nil, errors.New("the engine cannot correct them")
	}
	if isException(fn) {
		return fn
	}
	closes, err := vm.correct(ctx, fn, m)
	if err == nil && closes {
		err = refusal
	}
	switch err {
	case nil:
		return fn
	case errMemory:
		vm.discard(ctx, fn)
		return lib.XJS_ThrowOutOfMemory(vm.tls, ctx)
	}
	vm.discard(ctx, fn)
	return vm.refuse(err)
}

// A markedText is a source whose loops are marked.
type markedText struct {
	*typescript.Program
	source string
	mark   string
	number float64
	loaded int // constants of the compiled code that are the number
}

// written returns how many times the mark is in the text.
func (m *markedText) written() int { return strings.Count(m.Code, m.mark) }

// isMark reports whether a constant is the mark's number.
func (m *markedText) isMark(v value) bool {
	return tag(v) == lib.EJS_TAG_FLOAT64 && *bits(v) == math.Float64bits(m.number)
}

// newMark returns a number that a program cannot guess, exact in binary.
func newMark() string { return strconv.FormatInt(1<<51|rand.Int64N(1<<51), 10) + ".5" }

// markedSource marks the loops of a source, if their continue needs it. It returns nil
// if none does, and an error if that cannot be found out.
func (vm *vm) markedSource(source span) (*markedText, error) {
	if !vm.tryBorrow(source.n) {
		return nil, codeinterp.ErrCapacity
	}
	text := source.text()
	for _, w := range []string{"continue", "for", "let"} {
		if !strings.Contains(text, w) {
			return nil, nil
		}
	}
	if !vm.tryBorrow(8 * source.n) {
		return nil, codeinterp.ErrCapacity
	}
	m := &markedText{source: text, mark: vm.newMark()}
	if strings.Contains(text, m.mark) {
		return nil, errMarks
	}
	m.number, _ = strconv.ParseFloat(m.mark, 64)
	stop := context.Background()
	if vm.in != nil && vm.in.stop != nil {
		stop = vm.in.stop
	}
	pr, err := typescript.MarkLoops(stop, text, m.mark, 1<<20+8*int64(source.n))
	if pr == nil {
		return nil, err
	}
	m.Program = pr
	return m, nil
}

// discard frees compiled code that does not run. A module stays where those that import
// it refer to it, without a name that others could ask for.
func (vm *vm) discard(ctx uintptr, fn value) {
	if tag(fn) != lib.EJS_TAG_MODULE {
		vm.free(fn)
		return
	}
	m := at[lib.TJSModuleDef](ptr(fn))
	lib.XJS_FreeAtom(vm.tls, ctx, m.Fmodule_name)
	m.Fmodule_name = lib.MJS_ATOM_NULL
}

// correct corrects compiled code and that of the functions in it. It reports whether
// closures capture variables of loops or blocks there. The error is errMemory, or errMarks
// for code that must not run.
func (vm *vm) correct(ctx uintptr, fn value, m *markedText) (closes bool, err error) {
	if tag(fn) == lib.EJS_TAG_MODULE {
		fn = at[lib.TJSModuleDef](ptr(fn)).Ffunc_obj
	}
	for list := []value{fn}; len(list) > 0; {
		last := len(list) - 1
		f := at[lib.TJSFunctionBytecode](ptr(list[last]))
		list = list[:last]
		code := span{f.Fbyte_code_buf, int(f.Fbyte_code_len)}
		mark := vm.borrowed
		if !vm.tryBorrow(code.n) {
			return closes, errMemory
		}
		suspect, captures := bytecode.Suspect(code.bytes())
		vm.giveBack(mark)
		closes = closes || captures
		params := vm.params(f)
		if suspect || m != nil || params != nil {
			if err := vm.correctFunction(ctx, f, m, params); err != nil {
				return closes, err
			}
		}
		for _, v := range values(f.Fcpool, int(f.Fcpool_count)) {
			if tag(v) == lib.EJS_TAG_FUNCTION_BYTECODE {
				list = append(list, v)
			}
			if m != nil && m.isMark(v) {
				m.loaded++
			}
		}
	}
	if m != nil && m.loaded != m.written() {
		return closes, errMarks
	}
	return closes, nil
}

// correctFunction corrects one function. The errors are those of correct.
func (vm *vm) correctFunction(ctx uintptr, f *lib.TJSFunctionBytecode, m *markedText, params []bytecode.Param) error {
	mark := vm.borrowed
	defer func() { vm.giveBack(mark) }()
	if !vm.tryBorrow(bytecode.Memory(int(f.Fbyte_code_len))) {
		return errMemory
	}
	code := span{f.Fbyte_code_buf, int(f.Fbyte_code_len)}.bytes()
	lines := span{f.Fdebug.Fpc2line_buf, int(f.Fdebug.Fpc2line_len)}.bytes()
	flags := func(i int) uint8 {
		return variable(f, int(f.Farg_count)+i).F__ccgo8
	}
	fn := bytecode.Function{
		Code: code, Lines: lines,
		Params: params,
		Locals: int(f.Fvar_count), Args: int(f.Farg_count), Closures: int(f.Fclosure_var_count), Constants: int(f.Fcpool_count),
		Captured: func(i int) bool { return flags(i)&localCaptured != 0 },
		Scoped: func(i int) bool {
			return flags(i)&localLexical != 0 || flags(i)>>localKindShift == lib.EJS_VAR_CATCH
		},
		Declared: func(i int) bool {
			kind := flags(i) >> localKindShift
			return kind == lib.EJS_VAR_FUNCTION_DECL || kind == lib.EJS_VAR_NEW_FUNCTION_DECL
		},
	}
	if m != nil {
		constants := values(f.Fcpool, int(f.Fcpool_count))
		fn.Mark = func(i int) bool { return i < len(constants) && m.isMark(constants[i]) }
		fn.Position = m.Position
		m.restore(&f.Fdebug.Fsource_len, f.Fdebug.Fsource)
	}
	r, ok := bytecode.Correct(fn)
	if !ok {
		return errMarks
	}
	if r.Code == nil {
		if m == nil {
			return nil
		}
		r.Code, r.Lines = code, bytecode.MoveLines(lines, nil, m.Position)
	}
	capture(f, r.Joined)
	// The engine frees the table of positions, and the code with it.
	p := lib.Xjs_malloc(vm.tls, ctx, lib.Tsize_t(len(r.Lines)+len(r.Code)))
	if p == 0 {
		return errMemory
	}
	span{p, len(r.Lines)}.write(r.Lines)
	span{p + uintptr(len(r.Lines)), len(r.Code)}.write(r.Code)
	lib.Xjs_free(vm.tls, ctx, f.Fdebug.Fpc2line_buf)
	f.Fdebug.Fpc2line_buf, f.Fdebug.Fpc2line_len = p, int32(len(r.Lines))
	f.Fbyte_code_buf, f.Fbyte_code_len = p+uintptr(len(r.Lines)), int32(len(r.Code))
	f.Fstack_size += lib.Tuint16_t(r.Stack)
	return nil
}

// restore takes the marks out of a function's source.
func (m *markedText) restore(size *int32, source uintptr) {
	if source == 0 {
		return
	}
	text := span{source, int(*size)}.text()
	if !strings.Contains(text, "!"+m.mark) {
		return
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "!"+m.mark)
		b.WriteString(before)
		if !ok {
			break
		}
		_, rest, _ = strings.Cut(rest, "!"+m.mark)
		text = strings.TrimPrefix(rest, ",")
	}
	span{source, int(*size) + 1}.writeString(b.String())
	*size = int32(b.Len())
}
