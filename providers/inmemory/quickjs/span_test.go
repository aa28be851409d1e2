package quickjs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Nothing but a span makes Go values of the engine's memory, and no such value
// goes anywhere but into a copy: what system calls, the vDSO and C code do with
// memory that was revoked would end the process.
func TestSpans(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range leaks(fset, f) {
			t.Error(fault)
		}
	}
}

// A memorySource is an expression that is the engine's memory. It may only be an
// operand of the calls in allowed, and stand in the functions in home.
type memorySource struct {
	what    string
	is      func(ast.Expr) bool
	allowed []string
	home    []string
}

var engineMemory = []memorySource{
	{"unsafe.Slice", isCall("unsafe.Slice"), nil, []string{"raw", "values"}},
	{"unsafe.String", isCall("unsafe.String"), nil, []string{"asText"}},
	{"a span's raw bytes", isCall(".raw"), []string{"copy", "append", "string"}, nil},
	{"a mapping's bytes", func(e ast.Expr) bool { s, ok := e.(*ast.SelectorExpr); return ok && s.Sel.Name == "mem" },
		[]string{"len", "clear", "unsafe.SliceData", "system.UnmapMemory", "system.ProtectMemory"}, nil},
	{"a pointer", func(e ast.Expr) bool {
		c, ok := e.(*ast.CallExpr)
		if !ok {
			return false
		}
		i, ok := c.Fun.(*ast.IndexExpr)
		return ok && name(i.X) == "at"
	}, []string{"unsafe.Slice"}, []string{""}},
}

func isCall(of string) func(ast.Expr) bool {
	return func(e ast.Expr) bool {
		c, ok := e.(*ast.CallExpr)
		return ok && (name(c.Fun) == of || of[0] == '.' && strings.HasSuffix(name(c.Fun), of))
	}
}

// name returns an expression such as f, p.f or (...).f, the latter as .f.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return name(e.X) + "." + e.Sel.Name
	}
	return ""
}

// leaks returns where a file lets go of the engine's memory.
func leaks(fset *token.FileSet, f *ast.File) (faults []string) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var parents []ast.Node
		ast.Inspect(fn, func(n ast.Node) bool {
			if n == nil {
				parents = parents[:len(parents)-1]
				return true
			}
			if e, ok := n.(ast.Expr); ok {
				for _, s := range engineMemory {
					if s.is(e) && !s.mayStand(fn.Name.Name, e, parents) {
						faults = append(faults, fset.Position(n.Pos()).String()+": "+s.what+" outside of a copy")
					}
				}
			}
			parents = append(parents, n)
			return true
		})
	}
	return faults
}

// mayStand reports whether a source may stand in a function, below parents.
func (s memorySource) mayStand(fn string, e ast.Expr, parents []ast.Node) bool {
	if slices.Contains(s.home, fn) {
		return true
	}
	call, ok := parents[len(parents)-1].(*ast.CallExpr)
	isOperand := ok && slices.Contains(call.Args, e)
	if slices.Contains(s.home, "") { // free but for calls
		return !isOperand || slices.Contains(s.allowed, name(call.Fun))
	}
	return isOperand && slices.Contains(s.allowed, name(call.Fun))
}
