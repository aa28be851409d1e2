package quickjs

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// builtins are the modules that come with the runtime, beside what require
// and import find in the instance's file system.
var builtins = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields("assert assert/strict buffer console crypto events fs fs/promises module os path path/posix " +
		"perf_hooks process readline readline/promises stream stream/promises string_decoder timers timers/promises url util zlib") {
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
	// The engine frees the name, so it must be the engine's own memory.
	p := lib.Xjs_malloc(tls, ctx, lib.Tsize_t(len(resolved)+1))
	if p != 0 {
		span{p, len(resolved) + 1}.writeString(resolved)
	}
	return p
}

// resolve returns "node:name" for a built-in module, and a path beginning
// with a slash for a file, with the query and the fragment that follow its name.
func (in *instance) resolve(base, spec string) (string, error) {
	if name := strings.TrimPrefix(spec, "node:"); builtins[name] {
		return "node:" + name, nil
	}
	if strings.HasPrefix(spec, "file:") {
		spec = pathOfURL(spec)
	}
	if !strings.HasPrefix(spec, "./") && !strings.HasPrefix(spec, "../") && !strings.HasPrefix(spec, "/") {
		return "", fs.ErrNotExist
	}
	dir := in.cwd
	if strings.HasPrefix(base, "/") {
		name, _ := in.splitQuery(base[1:])
		dir = path.Dir(name)
	}
	file, query := spec, ""
	for {
		for _, name := range in.candidates(memfs.Clean(dir, file), ".js", ".mjs", ".cjs", ".json") {
			if in.isFile(name) {
				return "/" + name + query, nil
			}
		}
		i := strings.IndexAny(file, "?#")
		if i < 0 {
			return "", fs.ErrNotExist
		}
		file, query = spec[:i], spec[i:]
	}
}

// pathOfURL returns the path of a file's URL, with query and fragment; "" where it is
// not one of this machine's.
func pathOfURL(spec string) string {
	end := strings.IndexAny(spec+"?", "?#")
	u, err := url.Parse(spec[:end])
	if err != nil || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	return u.Path + spec[end:]
}

func (in *instance) isFile(name string) bool {
	info, err := in.config.Files.Stat(name)
	return err == nil && !info.IsDir()
}

// splitQuery parts the name of a module's file from the query and the fragment that
// follow it in the module's name.
func (in *instance) splitQuery(module string) (file, query string) {
	if i := strings.IndexAny(module, "?#"); i >= 0 && !in.isFile(module) {
		return module[:i], module[i:]
	}
	return module, ""
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

func (in *instance) throwMissing(spec string) {
	kind := "package"
	if strings.HasPrefix(spec, ".") || strings.HasPrefix(spec, "/") {
		kind = "module"
	}
	in.vm.throwWith("Error", "Cannot find "+kind+" '"+clip(spec, 500)+"'",
		map[string]string{"code": "ERR_MODULE_NOT_FOUND", "specifier": clip(spec, 500)})
}

// maxExports is how many exports of a CommonJS file can be imported by name.
const maxExports = 10_000

// isCommon tells whether a file that is imported is a CommonJS module: by its name, else by
// whether it has what only modules may have.
func (in *instance) isCommon(file, text string) bool {
	switch ext := path.Ext(file); {
	case ext == ".cjs":
		return true
	case ext != ".js":
		return false
	}
	if strings.Contains(text, "import") || strings.Contains(text, "export") {
		if in.script(text) != nil {
			return false
		}
	}
	if !strings.Contains(text, "await") {
		return true
	}
	vm := in.vm
	v := vm.eval(commonStart+text+"\n})", file, lib.MJS_EVAL_TYPE_GLOBAL|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	if isException(v) {
		vm.dropException() // it is said again of the module
		return false
	}
	vm.free(v)
	return true
}

// commonSource returns a module that exports what require returns of a file or of a
// built-in module.
func (in *instance) commonSource(file string) (string, error) {
	vm := in.vm
	require := in.requireFunction()
	if isException(require) {
		return "", errThrown
	}
	defer vm.free(require)
	spec := vm.newString(file)
	defer vm.free(spec)
	exports := vm.call(require, undefined, spec)
	if isException(exports) {
		return "", errThrown
	}
	defer vm.free(exports)
	return in.reexport(file, exports), nil
}

// reexport returns a module whose exports are the properties of an object.
func (in *instance) reexport(file string, exports value) string {
	quoted, _ := json.Marshal(file)
	var b strings.Builder
	b.WriteString("const m = require(" + string(quoted) + ");\nexport default m;\n")
	class := classOf(exports)
	if !isObject(exports) {
		return b.String()
	}
	// A proxy tells its keys by code of the program.
	if class != lib.EJS_CLASS_PROXY && !in.vm.hasElements(exports, class) {
		keys, ok := in.vm.keys(exports, maxExports)
		if !ok {
			in.vm.dropException()
		}
		for _, k := range keys {
			if identifier().MatchString(k) && k != "default" {
				// By another name inside: the exports of a file may be called like keywords.
				b.WriteString("const $" + k + " = m." + k + ";\nexport { $" + k + " as " + k + " };\n")
			}
		}
	}
	return b.String()
}
