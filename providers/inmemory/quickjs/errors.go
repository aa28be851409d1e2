package quickjs

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	lib "modernc.org/libquickjs"
)

// maxTraceback bounds the lines of a traceback, maxMessage the bytes of a
// message.
const (
	maxTraceback = 40
	maxMessage   = 64 << 10
	maxSpecifier = 1 << 10
)

// A cutter shortens the parts of an error, and counts what it leaves out.
type cutter struct{ lost int64 }

func (c *cutter) clip(s string, n int) string {
	c.lost += int64(max(len(s)-n, 0))
	return clip(s, n)
}

// own clips an own data property that is a string.
func (c *cutter) own(vm *vm, obj value, name string, n int) string {
	s, lost := vm.ownClipped(obj, name, n)
	c.lost += lost
	return s
}

// programError describes an uncaught value, and says how many bytes of it are
// left out. It runs no code of the program, so that a hostile toString or
// getter cannot disturb it, except where the value is no error and has to be
// inspected.
func (in *instance) programError(e value) (pe *codeinterp.ProgramError, lost int64) {
	vm, cut := in.vm, &cutter{}
	defer func() { lost = cut.lost }()
	if !vm.isError(e) {
		shown, ok := in.inspect(e)
		s := cut.clip(asText(shown), maxMessage)
		if !ok {
			vm.dropException()
			s = "a value that cannot be shown"
		}
		return &codeinterp.ProgramError{Name: "Uncaught", Message: s, Traceback: strings.Split("Uncaught "+s, "\n")}, 0
	}
	pe = &codeinterp.ProgramError{
		Name:    vm.errorName(e),
		Message: cut.own(vm, e, "message", maxMessage),
	}
	frames := vm.withoutConstructors(e, framesOf(cut.own(vm, e, "stack", 2*maxMessage)))
	pe.Line = lineIn(frames, in.program.Name)
	pe.Traceback = strings.Split(pe.Error(), "\n")
	pe.Traceback = append(pe.Traceback, in.causes(e, cut)...)
	for line := range strings.SplitSeq(strings.TrimRight(frames, "\n"), "\n") {
		switch {
		case line == "":
		case len(pe.Traceback) < maxTraceback:
			pe.Traceback = append(pe.Traceback, line)
		default:
			cut.lost += int64(len(line))
		}
	}
	switch code, _ := vm.ownClipped(e, "code", 64); code {
	case "MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND":
		pe.MissingModule = cut.own(vm, e, "specifier", maxSpecifier)
		if pe.Line == 0 {
			in.placeImport(pe)
		}
	}
	return pe, 0
}

// isError reports whether a value is an error by its class, or is an object that
// inherits from Error.prototype, such as those of functions that were made errors
// before there were classes. It runs no code of the program.
func (vm *vm) isError(v value) bool {
	if classOf(v) == lib.EJS_CLASS_ERROR {
		return true
	}
	if classOf(v) != lib.EJS_CLASS_OBJECT {
		return false
	}
	proto := vm.ctxErrorProto()
	vm.free(proto) // which the realm holds
	is := false
	vm.eachPrototype(v, func(at value) bool {
		is = ptr(at) == ptr(proto)
		return !is
	})
	return is && ptr(v) != ptr(proto)
}

// errorName is the name of an error. One that a getter makes, which is code of the
// program, is taken to be that of the error's class.
func (vm *vm) errorName(e value) string {
	class := vm.inheritedValue(e, "constructor")
	defer vm.free(class)
	if name := vm.inherited(e, "name"); name != "" {
		return name
	}
	name, _ := vm.ownClipped(class, "name", maxName)
	return cmp.Or(name, "Error")
}

// eachPrototype calls f with an object and its prototypes, up to the first proxy, as
// long as f returns true.
func (vm *vm) eachPrototype(obj value, f func(at value) bool) {
	v := vm.dup(obj)
	for range maxPrototypes {
		if !isObject(v) || classOf(v) == lib.EJS_CLASS_PROXY || !f(v) {
			break
		}
		proto := lib.XJS_GetPrototype(vm.tls, vm.ctx, v)
		vm.free(v)
		v = proto
	}
	vm.free(v)
}

// placeImport gives the error of a module that is missing the line of the program's
// declaration that imports it: what the engine imports has no frame.
func (in *instance) placeImport(pe *codeinterp.ProgramError) {
	before, _, found := strings.Cut(strings.ReplaceAll(in.program.Code, "'", `"`), `"`+pe.MissingModule+`"`)
	if !found || pe.MissingModule == "" {
		return
	}
	pe.Line = 1 + strings.Count(before, "\n")
	if position := in.program.Position; position != nil {
		pe.Line, _ = position(pe.Line, len(before)-strings.LastIndexByte(before, '\n'))
	}
	pe.Traceback = append(pe.Traceback, "    at "+in.program.Name+":"+strconv.Itoa(pe.Line))
}

// withoutConstructors leaves out the first frames where they are those of the
// error's own class: what matters is where it was made.
func (vm *vm) withoutConstructors(e value, frames string) string {
	class := vm.inheritedValue(e, "constructor")
	name, _ := vm.ownClipped(class, "name", maxName)
	vm.free(class)
	for name != "" && strings.HasPrefix(frames, "    at "+name+" (") {
		_, frames, _ = strings.Cut(frames, "\n")
	}
	return frames
}

// causes lists an error's chain of causes.
func (in *instance) causes(e value, cut *cutter) []string {
	vm := in.vm
	var list []string
	cause := vm.own(e, "cause")
	for range 8 {
		if classOf(cause) != lib.EJS_CLASS_ERROR {
			break
		}
		c := codeinterp.ProgramError{Name: vm.inherited(cause, "name"), Message: cut.own(vm, cause, "message", 1024)}
		list = append(list, "  [cause]: "+strings.ReplaceAll(c.Error(), "\n", "\n    "))
		next := vm.own(cause, "cause")
		vm.free(cause)
		cause = next
	}
	if classOf(cause) == lib.EJS_CLASS_ERROR {
		list = append(list, "  [further causes are left out]")
	}
	vm.free(cause)
	return list
}

// inherited returns a data property that is a string; see inheritedValue.
func (vm *vm) inherited(obj value, name string) string {
	v := vm.inheritedValue(obj, name)
	defer vm.free(v)
	if !isString(v) {
		return ""
	}
	s, _, ok := vm.clipped(v, maxName)
	if !ok {
		vm.dropException()
	}
	return s
}

// inheritedValue returns a data property of obj or of the first of its
// prototypes that has it, undefined where there is none or a getter makes it. It runs no
// code of the program.
func (vm *vm) inheritedValue(obj value, name string) value {
	found := undefined
	vm.eachPrototype(obj, func(at value) bool {
		v, _, ok := vm.property(at, name)
		if ok {
			found = v
		}
		return !ok
	})
	return found
}

// frame is one line of the engine's tracebacks, as far as it has a position.
var frame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^    at (?:(.*) )?\(?([^\s():]+|node:internal/\w+):(\d+)(?::(\d+))?\)?$`)
})

// mapStack turns the first frames of the engine's traceback, at most shownFrames, into
// those of the sources: positions of translated programs are those of what they
// were translated from, the runtime's own frames are left out, and top-level code
// has no name.
func (in *instance) mapStack(stack string) string {
	var b strings.Builder
	n := shownFrames
	for line := range strings.SplitSeq(stack, "\n") {
		if n <= 0 {
			break
		}
		m := frame().FindStringSubmatch(line)
		switch {
		case strings.Contains(line, "(native)") || strings.Contains(line, "node:internal/"):
			continue
		case m == nil:
			if strings.TrimSpace(line) != "" {
				b.WriteString(line + "\n")
				n--
			}
			continue
		}
		n--
		row, _ := strconv.Atoi(m[3])
		col, _ := strconv.Atoi(m[4])
		row, col = in.positions.at(m[2], row, col)
		where := m[2] + ":" + strconv.Itoa(row)
		if m[4] != "" {
			where += ":" + strconv.Itoa(col)
		}
		if m[1] == "" || m[1] == "<eval>" {
			b.WriteString("    at " + where + "\n")
		} else {
			b.WriteString("    at " + m[1] + " (" + where + ")\n")
		}
	}
	return b.String()
}

// lineIn returns the line of the first frame in a file, 0 if there is none.
func lineIn(frames, file string) int {
	for line := range strings.SplitSeq(frames, "\n") {
		if m := frame().FindStringSubmatch(line); m != nil && m[2] == file {
			n, _ := strconv.Atoi(m[3])
			return n
		}
	}
	return 0
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }
