package toolcell_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestVariablesWithoutBodies keeps go doc readable: it prints what an exported
// variable is set to, the body of a function included.
func TestVariablesWithoutBodies(t *testing.T) {
	for _, dir := range list(t, "-f", `{{if ne .Name "main"}}{{.Dir}}{{end}}`) {
		if dir == "" || strings.Contains(dir, "/internal/") || strings.Contains(dir, "/examples/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, at := range bodies(t, name) {
				t.Errorf("%s: name this function, whose body go doc prints", at)
			}
		}
	}
}

// bodies returns where function literals stand in a file's exported variables.
func bodies(t *testing.T, name string) (found []token.Position) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if !v.Names[0].IsExported() {
				continue
			}
			ast.Inspect(v, func(n ast.Node) bool {
				if f, ok := n.(*ast.FuncLit); ok {
					found = append(found, set.Position(f.Pos()))
				}
				return true
			})
		}
	}
	return found
}
