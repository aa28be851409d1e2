package quickjs

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

var _ engine.Completer = (*instance)(nil)

var (
	pathBefore = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:\?\.|[\p{L}\p{N}\p{Mn}\p{Mc}\p{Pc}$.])*$`) })
	wholeName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{Nl}$_][\p{L}\p{N}\p{Mn}\p{Mc}\p{Pc}$]*$`) })

	jsKeywords = strings.Fields(`async await break case catch class const continue debugger default delete do else export extends false
		finally for function if import in instanceof let new null of return static super switch this throw true try typeof undefined
		var void while with yield`)
)

const (
	// maxPrototypes bounds the walk along prototypes, maxMembers how many names are
	// looked at of an object, and maxPathBefore the bytes before what is completed.
	maxPrototypes = 64
	maxMembers    = 10_000
	maxPathBefore = 4 << 10
)

// Complete implements engine.Completer. Properties are looked up one by one;
// getters and proxies are left alone.
func (in *instance) Complete(_ context.Context, code string) (start int, matches []string, err error) {
	vm := in.vm
	defer vm.dropException() // of a variable before its declaration
	text := pathBefore().FindString(code[max(0, len(code)-maxPathBefore):])
	path := strings.Split(strings.ReplaceAll(text, "?.", "."), ".")
	word := path[len(path)-1]
	path = path[:len(path)-1]
	start = len(code) - len(word)
	var names []string
	switch {
	case len(path) == 0:
		global := at[lib.TJSContext](vm.ctx)
		lexical, _ := vm.ownNames(global.Fglobal_var_obj, lib.MJS_GPN_STRING_MASK, maxMembers)
		names = slices.Concat(jsKeywords, lexical, vm.members(global.Fglobal_obj))
	case wholeName().MatchString(path[0]):
		v := vm.resolved(path)
		names = vm.members(v)
		vm.free(v)
	}
	for _, name := range names {
		if strings.HasPrefix(name, word) && wholeName().MatchString(name) && (word != "" || name[0] != '_') {
			matches = append(matches, name)
		}
	}
	// Names with an underscore come last.
	late := func(s string) int { return len(s[:min(1, len(s))]) - len(strings.TrimLeft(s[:min(1, len(s))], "_")) }
	slices.SortFunc(matches, func(a, b string) int { return cmp.Or(cmp.Compare(late(a), late(b)), strings.Compare(a, b)) })
	return start, slices.Compact(matches), nil
}

// resolved returns what a path of names leads to, undefined where that is not
// known without running something.
func (vm *vm) resolved(path []string) value {
	global := at[lib.TJSContext](vm.ctx)
	v := vm.own(global.Fglobal_var_obj, path[0])
	if isUndefined(v) {
		v = vm.inheritedValue(global.Fglobal_obj, path[0])
	}
	for _, name := range path[1:] {
		next := vm.inheritedValue(vm.objectOf(v), name)
		vm.free(v)
		v = next
	}
	return v
}

// objectOf returns v, or the prototype of what is no object; borrowed.
func (vm *vm) objectOf(v value) value {
	class := 0
	switch {
	case isString(v):
		class = lib.EJS_CLASS_STRING
	case tag(v) == lib.EJS_TAG_INT, tag(v) == lib.EJS_TAG_FLOAT64:
		class = lib.EJS_CLASS_NUMBER
	case tag(v) == lib.EJS_TAG_BOOL:
		class = lib.EJS_CLASS_BOOLEAN
	case tag(v) == lib.EJS_TAG_SYMBOL:
		class = lib.EJS_CLASS_SYMBOL
	case tag(v) == lib.EJS_TAG_BIG_INT, tag(v) == lib.EJS_TAG_SHORT_BIG_INT:
		class = lib.EJS_CLASS_BIG_INT
	default:
		return v
	}
	return values(at[lib.TJSContext](vm.ctx).Fclass_proto, class+1)[class]
}

// members returns the names of an object's properties and of those that it
// inherits.
func (vm *vm) members(v value) (names []string) {
	vm.eachPrototype(vm.objectOf(v), func(at value) bool {
		if !vm.hasElements(at, classOf(at)) {
			own, _ := vm.ownNames(at, lib.MJS_GPN_STRING_MASK, maxMembers)
			names = append(names, own...)
		}
		return true
	})
	return names
}

// hasElements reports whether names of an object may be indices, maybe millions.
func (vm *vm) hasElements(o value, class int) bool {
	switch {
	case class >= lib.EJS_CLASS_UINT8C_ARRAY && class <= lib.EJS_CLASS_FLOAT64_ARRAY:
		return true
	case class == lib.EJS_CLASS_ARRAY || class == lib.EJS_CLASS_STRING:
		return ptr(values(at[lib.TJSContext](vm.ctx).Fclass_proto, class+1)[class]) != ptr(o)
	}
	return false
}
