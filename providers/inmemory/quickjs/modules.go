//go:build !(386 || arm || s390x)

package quickjs

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// builtins are the modules that come with the runtime, beside what require
// and import find in the instance's file system.
var builtins = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields("assert assert/strict buffer console crypto events fs fs/promises module os path path/posix " +
		"perf_hooks process querystring readline readline/promises stream stream/promises string_decoder timers timers/promises url util zlib") {
		m[name] = true
	}
	return m
}()

// cNormalize resolves the specifier of an import.
func cNormalize(tls *libc.TLS, ctx, base, name, opaque uintptr) uintptr {
	vm := at[vm](opaque)
	mark := vm.borrowed
	defer func() { vm.giveBack(mark) }()
	if vm.in.parsing {
		lib.XJS_Throw(tls, ctx, undefined)
		return 0
	}
	if n := libc.Xstrlen(tls, name); n > maxPath {
		vm.in.throwMissing(span{name, maxPath}.text())
		return 0
	}
	spec := libc.GoString(name)
	resolved, err := vm.in.resolve(libc.GoString(base), spec)
	if err != nil {
		vm.in.throwMissing(spec)
		return 0
	}
	p := vm.heap.alloc(uintptr(len(resolved)) + 1)
	if p == 0 {
		lib.XJS_ThrowOutOfMemory(tls, ctx)
		return 0
	}
	span{p, len(resolved) + 1}.writeString(resolved)
	// The engine frees the name, so it must be the engine's own memory.
	s := lib.Xjs_strdup(tls, ctx, p)
	vm.heap.release(p)
	return s
}

// resolve returns "node:name" for a built-in module, and a path beginning
// with a slash for a file.
func (in *instance) resolve(base, spec string) (string, error) {
	if name := strings.TrimPrefix(spec, "node:"); builtins[name] {
		return "node:" + name, nil
	}
	if !strings.HasPrefix(spec, "./") && !strings.HasPrefix(spec, "../") && !strings.HasPrefix(spec, "/") {
		return "", fs.ErrNotExist
	}
	dir := in.cwd
	if strings.HasPrefix(base, "/") {
		dir = path.Dir(base[1:])
	}
	name := memfs.Clean(dir, spec)
	for _, name := range in.candidates(name, ".js", ".mjs", ".cjs", ".json") {
		if info, err := in.config.Files.Stat(name); err == nil && !info.IsDir() {
			return "/" + name, nil
		}
	}
	return "", fs.ErrNotExist
}

// candidates lists the names that a file may have that is imported as name: with the
// extensions of the program's own language first, and also in the place of .js, which a
// compiler would have made of it.
func (in *instance) candidates(name string, extensions ...string) []string {
	own := in.program.Extensions
	list := []string{name}
	for _, ext := range slices.Concat(own, extensions) {
		list = append(list, name+ext)
	}
	for _, ext := range append(slices.Clone(own), ".js") {
		list = append(list, name+"/index"+ext)
	}
	if base, ok := strings.CutSuffix(name, ".js"); ok {
		for _, ext := range own {
			list = append(list, base+ext)
		}
	}
	return list
}

// hostCandidates is candidates for require.
func (in *instance) hostCandidates(_ value, args []value) value {
	name, _, ok := in.vm.clipped(args[0], maxPath)
	if !ok {
		return exception
	}
	var list []value
	for _, c := range in.candidates(name, ".js", ".cjs", ".json") {
		list = append(list, in.vm.newString(c))
	}
	return in.vm.newList(list...)
}

// translated returns the JavaScript of a file of the program's own language, and that
// of any other as it is. ok is false where an exception is pending.
func (in *instance) translated(file, source string) (code string, position func(line, column int) (int, int), ok bool) {
	if in.program.Translate == nil || !slices.Contains(in.program.Extensions, path.Ext(file)) {
		return source, nil, true
	}
	p, out, ok := in.program.Translate(file, source)
	switch {
	case ok:
		if p.Position != nil {
			in.positions.moved(file, p.Position, p.PositionSize)
		}
		return p.Code, p.Position, true
	case out.Error != nil:
		in.throwFaulty(out.Error)
	case isException(in.resume(undefined)):
	default:
		in.vm.throw("InternalError", "the file was not translated")
	}
	return "", nil, false
}

// throwFaulty throws the error of a file that is invalid, with the place of that.
func (in *instance) throwFaulty(pe *codeinterp.ProgramError) {
	vm := in.vm
	vm.throw(pe.Name, pe.Message)
	e := lib.XJS_GetException(vm.tls, vm.ctx)
	stack := strings.Join(pe.Traceback[:min(2, len(pe.Traceback))], "\n")
	vm.set(e, "stack", vm.newString(stack), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	lib.XJS_Throw(vm.tls, vm.ctx, e)
}

func (in *instance) throwMissing(spec string) {
	kind := "package"
	if strings.HasPrefix(spec, ".") || strings.HasPrefix(spec, "/") {
		kind = "module"
	}
	in.vm.throwWith("Error", "Cannot find "+kind+" '"+clip(spec, 500)+"'",
		map[string]string{"code": "ERR_MODULE_NOT_FOUND", "specifier": clip(spec, 500)})
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
	name := vm.newString(file)
	v := in.callLibrary("node", "describeModule", undefined, []value{meta, name})
	vm.free(meta)
	vm.free(name)
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
		return in.commonSource(file, "")
	}
	return in.fileSource(file[1:])
}

// fileSource returns the text of a file's module. That of JSON may have six bytes
// for each of the file.
func (in *instance) fileSource(name string) (string, error) {
	vm := in.vm
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
		if common, ok := in.isCommon("/"+name, source); !ok {
			return "", errThrown
		} else if common {
			return in.commonSource("/"+name, source)
		}
		return in.runnable("/"+name, source)
	}
	const before, after = "export default JSON.parse(", ");"
	size := in.quotedSize(b) + len(before) + len(after)
	if !vm.borrow(2 * size) { // and the string
		return "", errThrown
	}
	quoted := quoteJSON(append(make([]byte, 0, size), before...), b, size)
	return string(append(quoted, after...)), nil
}

// runnable returns a source as the engine runs it.
func (in *instance) runnable(file, source string) (string, error) {
	code, position, ok := in.translated(file, source)
	if !ok {
		return "", errThrown
	}
	if guarded, ok := in.awaited(code, file, position); ok {
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
	in.positions.require(file)
	// On a line of its own, as the file may end with a comment.
	return in.vm.eval(commonStart+code+"\n})", file, lib.MJS_EVAL_TYPE_GLOBAL)
}
