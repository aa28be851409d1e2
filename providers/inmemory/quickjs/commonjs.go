//go:build !(386 || arm || s390x)

package quickjs

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	lib "modernc.org/libquickjs"
)

// maxExports is how many exports of a CommonJS file can be imported by name.
const maxExports = 10_000

// isCommon tells whether a file that is imported is a CommonJS module, as node tells
// it: by its name, by the type of the package.json above it, else by whether it has
// what only modules may have. ok is false where an exception is pending.
func (in *instance) isCommon(file, source string) (common, ok bool) {
	switch ext := path.Ext(file); {
	case ext == ".cjs":
		return true, true
	case ext != ".js":
		return false, true
	}
	if strings.Contains(source, "import") || strings.Contains(source, "export") {
		if !in.vm.borrow(2 * len(source)) {
			return false, false
		}
		if _, declares := rewriteImports(source, in.vm.stopping.Load, false); declares {
			return false, true
		}
	}
	if in.packageType(file) == "module" {
		return false, true
	}
	if !strings.Contains(source, "await") {
		return true, true
	}
	vm := in.vm
	v := vm.eval(commonStart+source+"\n})", file, lib.MJS_EVAL_TYPE_GLOBAL|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	if isException(v) {
		vm.dropException() // it is said again of the module
		return false, true
	}
	vm.free(v)
	return true, true
}

// maxPackage is more than a package.json has.
const maxPackage = 64 << 10

// packageType returns the type that the next package.json above a file has.
func (in *instance) packageType(file string) string {
	for dir := path.Dir(file[1:]); ; dir = path.Dir(dir) {
		name := memfs.Clean(dir, "package.json")
		if info, err := in.config.Files.Stat(name); err == nil && !info.IsDir() && info.Size() <= maxPackage {
			var about struct {
				Type string `json:"type"`
			}
			if b, err := in.config.Files.ReadFile(name); err == nil {
				_ = json.Unmarshal(b, &about)
			}
			return about.Type
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}

// commonSource returns a module that exports what require returns of a file or of a
// built-in module: its properties, and what the source is seen to assign.
func (in *instance) commonSource(file, source string) (string, error) {
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
	var seen []string
	if strings.Contains(source, "exports") {
		seen = exportedNames(source, vm.stopping.Load)
	}
	return in.reexport(file, exports, seen), nil
}

// reexport returns a module whose exports are the properties of an object, and others.
func (in *instance) reexport(file string, exports value, names []string) string {
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
			if !slices.Contains(names, k) {
				names = append(names, k)
			}
		}
	}
	for _, n := range names {
		if identifier(n) {
			// By another name inside: the exports of a file may be called like keywords.
			b.WriteString("const $" + n + " = m." + n + ";\nexport { $" + n + " as " + n + " };\n")
		}
	}
	return b.String()
}

func identifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != "" && s != "default"
}

// exportedNames returns the names that a CommonJS file is seen to export without
// running it: those that it assigns to exports, or defines there.
func exportedNames(code string, stopped func() bool) (names []string) {
	s := scanner{src: code}
	seen := map[string]bool{}
	for tokens := 0; len(names) < maxExports/10 && s.next(); tokens++ {
		if tokens%askEvery == askEvery-1 && stopped() {
			break
		}
		if s.kind != word || s.text != "exports" {
			continue
		}
		if name := exportedName(s); name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// exportedName returns the name that is assigned or defined where s is at exports.
func exportedName(s scanner) string {
	defines := s.prev == "(" || s.prev == "." // as Object.defineProperty(module.exports
	code := s.src
	s.next()
	var name string
	switch s.text {
	case ".":
		if !s.next() || s.kind != word {
			return ""
		}
		name = s.text
	case "[":
		if !s.next() || s.kind != str || len(s.text) < 2 {
			return ""
		}
		name = s.text[1 : len(s.text)-1]
		s.next()
	case ",":
		before := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(code[:s.start], " \t\n"), "exports"), " \t\n")
		before = strings.TrimRight(strings.TrimSuffix(before, "module."), " \t\n")
		if !defines || !strings.HasSuffix(before, "defineProperty(") || !s.next() || s.kind != str || len(s.text) < 2 {
			return ""
		}
		return s.text[1 : len(s.text)-1]
	default:
		return ""
	}
	if !s.next() || s.text != "=" || s.pos < len(code) && (code[s.pos] == '=' || code[s.pos] == '>') {
		return ""
	}
	return name
}
