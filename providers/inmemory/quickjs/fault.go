//go:build !(386 || arm || s390x)

package quickjs

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// frameLine is a frame of the engine's stack that has a position.
var frameLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^    at .*:(\d+):(\d+)\)?$`) })

// faultAt returns where the engine raised the error whose stack is given, nil
// for an error that the program made.
func (vm *vm) faultAt(stack string) *fault {
	frame := at[lib.TJSRuntime](vm.rt).Fcurrent_stack_frame
	f := &fault{better: -1}
	if frame == 0 {
		return f
	}
	sf := at[lib.TJSStackFrame](frame)
	fn := sf.Fcur_func
	f.argument = func(i int) string { return vm.argumentText(sf, i) }
	switch class := classOf(fn); {
	case class == lib.EJS_CLASS_C_FUNCTION || class == lib.EJS_CLASS_C_FUNCTION_DATA:
		// The program wrote new Error: its message is not the engine's to reword.
		if vm.isErrorConstructor(fn) {
			return nil
		}
		f.native = vm.functionName(fn)
	case isBytecode(class):
		vm.place(f, fn, stack)
	}
	return f
}

// place finds out where in the source of fn the stack's first frame is.
func (vm *vm) place(f *fault, fn value, stack string) {
	line, _, _ := strings.Cut(stack, "\n")
	if m := frameLine().FindStringSubmatch(line); m != nil {
		row, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		src, at := vm.sourceAt(objectData(ptr(fn)), row, column)
		f.class = isClass(src)
		f.source, f.at = around(src, at)
	}
}

// maxAround is how much of a source before and after a fault is looked at.
const maxAround = 16 << 10

// around returns what of a source is around a byte of it, and where that is there.
func around(src string, at int) (string, int) {
	from, to := max(0, at-maxAround), min(len(src), at+maxAround)
	for from > 0 && !utf8.RuneStart(src[from]) {
		from--
	}
	return src[from:to], at - from
}

// isErrorConstructor reports whether fn is Error or one of its kin: they share
// their code.
func (vm *vm) isErrorConstructor(fn value) bool {
	return classOf(fn) == lib.EJS_CLASS_C_FUNCTION && cFunctionOf(fn) == cFunctionOf(vm.in.errorClass)
}

// cFunctionOf is the address of a built-in's code, the second of its fields.
func cFunctionOf(fn value) uintptr {
	return *(*uintptr)(unsafe.Add(unsafe.Pointer(&at[lib.TJSObject](ptr(fn)).Fu), 8))
}

func (vm *vm) functionName(fn value) string {
	v := slot(fn, lib.EJS_ATOM_name)
	if v == nil {
		return ""
	}
	s, _ := vm.prefix(*v, 256)
	return s
}

// argumentText shows an argument of a call as V8's messages do, or with -1 the
// name of what was called. It runs no code of the program.
func (vm *vm) argumentText(sf *lib.TJSStackFrame, i int) string {
	if i < 0 {
		return vm.functionName(sf.Fcur_func)
	}
	if i >= int(sf.Farg_count) {
		return "undefined"
	}
	switch v := values(sf.Farg_buf, i+1)[i]; {
	case isObject(v) && classOf(v) == lib.EJS_CLASS_ARRAY:
		return "[object Array]"
	case isObject(v):
		return "#<Object>"
	case tag(v) == lib.EJS_TAG_FLOAT64:
		f, _ := number(v)
		return strconv.FormatFloat(f, 'g', -1, 64)
	case isString(v):
		s, _ := vm.prefix(v, 256)
		return s
	default:
		if s, ok := vm.in.primitive(v); ok {
			return s
		}
	}
	return "value"
}

// sourceAt returns the source of a function, and the byte of it that a line and
// a column of the file are at. The source is empty where it is not known.
func (vm *vm) sourceAt(bytecode uintptr, row, column int) (src string, at_ int) {
	b := at[lib.TJSFunctionBytecode](bytecode)
	firstRow, firstColumn := 1, 1
	switch {
	case bytecode == vm.in.top:
		src = vm.in.topSource
	case b.Fdebug.Fsource != 0 && b.Fdebug.Fpc2line_len > 2:
		if !vm.tryBorrow(int(b.Fdebug.Fsource_len)) {
			return "", 0
		}
		src = span{b.Fdebug.Fsource, int(b.Fdebug.Fsource_len)}.text()
		// Two numbers, of at most five bytes each, that count from zero.
		head := span{b.Fdebug.Fpc2line_buf, min(int(b.Fdebug.Fpc2line_len), 10)}.bytes()
		head, firstRow = leb128(head)
		_, firstColumn = leb128(head)
		firstRow, firstColumn = firstRow+1, firstColumn+1
		if at_ = begin(src); at_ < 0 {
			return "", 0
		}
	case b.Fdebug.Fsource == 0:
		src = vm.in.moduleText(bytecode)
	}
	if row > firstRow {
		n := afterLines(src[at_:], row-firstRow)
		if n < 0 {
			return "", 0
		}
		at_, firstColumn = at_+n, 1
	}
	for i := range src[at_:] {
		if column == firstColumn {
			return src, at_ + i
		}
		firstColumn++
	}
	return "", 0
}

// afterLines returns where the first n lines of a source end, -1 where it has not
// as many. Lines are counted in blocks, which is ten times as fast.
func afterLines(src string, n int) int {
	const block = 4 << 10
	at := 0
	for len(src)-at > block {
		lines := strings.Count(src[at:at+block], "\n")
		if lines >= n {
			break
		}
		n, at = n-lines, at+block
	}
	for ; n > 0; n-- {
		i := strings.IndexByte(src[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	return at
}

// isClass reports whether the source of a function is that of a class, so that
// it is the class's constructor.
func isClass(src string) bool {
	rest, ok := strings.CutPrefix(src, "class")
	return ok && rest != "" && !isWord(rest[0]) && !strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "(")
}

// constructorsIn returns where the name is of what may be constructors in the
// source of a class, at most two.
func constructorsIn(src string) (found []int) {
	const name = "constructor"
	for at := 0; len(found) < 2; at += len(name) {
		i := strings.Index(src[at:], name)
		if i < 0 {
			break
		}
		at += i
		c := before(src, at)
		if c != '.' && !isWord(c) && strings.HasPrefix(strings.TrimLeft(src[at+len(name):], " \t\r\n"), "(") {
			found = append(found, at)
		}
	}
	return found
}

// begin returns where in the source of a function its positions begin to count,
// which for a class is its constructor's name; -1 where that is not known.
func begin(src string) int {
	if !isClass(src) {
		return 0
	}
	switch all := constructorsIn(src); len(all) {
	case 0:
		return 0
	case 1:
		return all[0]
	}
	return -1
}

// leb128 reads one number of the engine's own tables.
func leb128(b []byte) (rest []byte, n int) {
	for i, c := range b {
		n |= int(c&0x7f) << (7 * i)
		if c < 0x80 {
			return b[i+1:], n
		}
	}
	return nil, 0
}

// rewordError gives an error V8's message. A recursion that is too deep is a
// RangeError there.
func (vm *vm) rewordError(e value, f *fault) {
	v := slot(e, lib.EJS_ATOM_message)
	if v == nil {
		return
	}
	message, _ := vm.prefix(*v, maxMessage)
	name, _, _ := strings.Cut(vm.errorHead(e), ":")
	text := f.reword(name, message)
	if text == "" || text == message {
		return
	}
	s := vm.newText(text)
	if isException(s) {
		return
	}
	v = slot(e, lib.EJS_ATOM_message)
	old := *v
	*v = s
	vm.free(old)
	if message == "stack overflow" {
		lib.XJS_SetPrototype(vm.tls, vm.ctx, e, at[lib.TJSContext](vm.ctx).Fnative_error_proto[lib.EJS_RANGE_ERROR])
	}
}

// moved returns the stack with the column of its first frame where node has it.
func (f *fault) moved(stack string) string {
	if f.better < 0 || f.better == f.at {
		return stack
	}
	line, rest, _ := strings.Cut(stack, "\n")
	m := frameLine().FindStringSubmatchIndex(line)
	if m == nil {
		return stack
	}
	from, to := min(f.at, f.better), max(f.at, f.better)
	if strings.Contains(f.source[from:to], "\n") {
		return stack
	}
	by := len([]rune(f.source[from:to]))
	if f.better < f.at {
		by = -by
	}
	column, _ := strconv.Atoi(line[m[4]:m[5]])
	return line[:m[4]] + strconv.Itoa(column+by) + line[m[5]:] + "\n" + rest
}
