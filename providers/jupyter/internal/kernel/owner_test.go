package kernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneFileSetsState: only state.go sets what a kernel's state is made of.
func TestOneFileSetsState(t *testing.T) {
	files := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]*ast.File{}
	for _, name := range names {
		if sources[name], err = parser.ParseFile(files, name, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	fields := map[string]bool{}
	ast.Inspect(sources["state.go"], func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "state" {
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				fields[f.Names[0].Name] = true
			}
		}
		return true
	})
	if !fields["others"] || !fields["proc"] {
		t.Fatalf("state has the fields %v", fields)
	}
	for name, source := range sources {
		if name == "state.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(source, func(n ast.Node) bool {
			var set []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				set = n.Lhs
			case *ast.IncDecStmt:
				set = []ast.Expr{n.X}
			}
			for _, e := range set {
				s, ok := e.(*ast.SelectorExpr)
				if !ok {
					continue
				}
				if of, ok := s.X.(*ast.Ident); ok && of.Name == "k" && fields[s.Sel.Name] {
					t.Errorf("%s sets k.%s", files.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
}
