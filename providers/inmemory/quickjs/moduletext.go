//go:build !(386 || arm || s390x)

package quickjs

import (
	"path"
	"strings"

	lib "modernc.org/libquickjs"
)

// A moduleText is the source of a module's top level, of which the engine keeps none.
type moduleText struct {
	bytecode uintptr
	text     string
}

// moduleText returns what a module's top level was compiled from, as the file has it
// now; "" where that is no module's, large, or not run as it is written. It is kept until
// the run ends, for a loop that fails again and again.
func (in *instance) moduleText(bytecode uintptr) string {
	vm := in.vm
	if in.failing.bytecode == bytecode {
		return in.failing.text
	}
	in.failing = moduleText{bytecode: bytecode}
	v := lib.XJS_AtomToValue(vm.tls, vm.ctx, at[lib.TJSFunctionBytecode](bytecode).Fdebug.Ffilename)
	module, lost, ok := vm.clipped(v, maxPath)
	vm.free(v)
	if !ok || lost > 0 || !strings.HasPrefix(module, "/") || in.positions.of[module] != nil {
		return ""
	}
	name, _ := in.splitQuery(module[1:])
	if ext := path.Ext(name); ext == ".json" || ext == ".cjs" {
		return ""
	}
	if info, err := in.config.Files.Stat(name); err != nil || info.Size() > maxMade {
		return ""
	}
	if b, err := in.config.Files.ReadFile(name); err == nil {
		in.failing.text = string(b)
	}
	return in.failing.text
}
