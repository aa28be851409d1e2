package quickjs

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// translated returns the JavaScript of a file of the program's own language, and that
// of any other as it is. ok is false where an exception is pending.
func (in *instance) translated(file, source string) (code string, ok bool) {
	name, _ := in.splitQuery(file)
	if in.program.Translate == nil || !slices.Contains(in.program.Extensions, path.Ext(name)) {
		return source, true
	}
	p, out, ok := in.program.Translate(file, source)
	switch {
	case ok:
		if p.Position != nil {
			in.positions.add(file, p.Position, p.PositionSize)
		}
		return p.Code, true
	case out.Error != nil:
		in.throwFaulty(out.Error)
	case isException(in.resume(undefined)):
	default:
		in.vm.throw("InternalError", "the file was not translated")
	}
	return "", false
}

// throwFaulty throws the error of a file that is invalid, with the place of that.
func (in *instance) throwFaulty(pe *codeinterp.ProgramError) {
	stack := strings.Join(pe.Traceback[:min(2, len(pe.Traceback))], "\n")
	in.vm.throwWith(pe.Name, pe.Message, map[string]string{"stack": stack})
}

// cLoad returns the module of a resolved name.
func cLoad(tls *libc.TLS, ctx, name, opaque uintptr, _ value) uintptr {
	vm := at[vm](opaque)
	mark := vm.borrowed
	defer func() { vm.giveBack(mark) }()
	file := libc.GoString(name)
	source, err := vm.in.moduleSource(file)
	if err != nil {
		if lib.XJS_HasException(tls, ctx) == 0 {
			vm.in.throwFS(err, "open", file)
		}
		return 0
	}
	v := vm.eval(source, file, lib.MJS_EVAL_TYPE_MODULE|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	if isException(v) {
		vm.forget(unlinked)
		return 0
	}
	// The engine's list of modules has it from now on.
	m := ptr(v)
	vm.free(v)
	if strings.Contains(source, "import.meta") {
		vm.in.describe(m, file)
	}
	return m
}

// describe fills in the import.meta of a file's module.
func (in *instance) describe(module uintptr, file string) {
	vm := in.vm
	meta := lib.XJS_GetImportMeta(vm.tls, vm.ctx, module)
	name, query := in.splitQuery(file)
	args := []value{meta, vm.newString(name), vm.newString(query)}
	v := in.callLibrary("node", "describeModule", undefined, args)
	for _, a := range args {
		vm.free(a)
	}
	if isException(v) {
		vm.dropException()
	}
	vm.free(v)
}

var errThrown = errors.New("an exception is pending")

// moduleSource returns the text of a module: that of its file, or one that
// exports what require returns.
func (in *instance) moduleSource(file string) (string, error) {
	if !strings.HasPrefix(file, "/") {
		return in.commonSource(file)
	}
	return in.fileSource(file)
}

// fileSource returns the text of a file's module.
func (in *instance) fileSource(module string) (string, error) {
	vm := in.vm
	name, _ := in.splitQuery(module[1:])
	// What ReadFile returns, and the string of that.
	if info, err := in.config.Files.Stat(name); err == nil && !vm.borrow(2*int(info.Size())) {
		return "", errThrown
	}
	b, err := in.config.Files.ReadFile(name)
	switch {
	case err != nil:
		return "", err
	case !strings.HasSuffix(name, ".json"):
		source := string(b)
		if in.isCommon("/"+name, source) {
			return in.commonSource("/" + name)
		}
		return in.runnable(module, source)
	}
	quoted, _ := json.Marshal("/" + name)
	return "export default require(" + string(quoted) + ");", nil
}

// runnable returns a source as the engine runs it.
func (in *instance) runnable(file, source string) (string, error) {
	delete(in.positions.of, file)
	code, ok := in.translated(file, source)
	if !ok {
		return "", errThrown
	}
	if guarded, ok := in.awaited(code, file); ok {
		return guarded, nil
	}
	return code, nil
}

// requireFunction returns the realm's require, whatever the program has made
// of the global one.
func (in *instance) requireFunction() value {
	exports := in.load("node")
	if isException(exports) {
		return exception
	}
	defer in.vm.free(exports)
	return in.vm.own(exports, "require")
}

// commonStart makes a file a function, on its first line.
const commonStart = "(function (exports, require, module, __filename, __dirname) {"

// hostEvalModule compiles the body of a CommonJS file into a function.
func (in *instance) hostEvalModule(_ value, args []value) value {
	code, ok := in.vm.text(args[0])
	if !ok || !in.vm.borrow(len(code)) {
		return exception
	}
	file, _, ok := in.vm.clipped(args[1], maxPath)
	if !ok {
		return exception
	}
	if code, err := in.runnable(file, code); err == nil {
		return in.evalCommon(code, file)
	}
	return exception
}

func (in *instance) evalCommon(code, file string) value {
	if strings.HasPrefix(code, "#!") {
		// Not taken away, so that the lines stay where they are.
		code = "//" + code
	}
	// On a line of its own, as the file may end with a comment.
	return in.vm.eval(commonStart+code+"\n})", file, lib.MJS_EVAL_TYPE_GLOBAL)
}
