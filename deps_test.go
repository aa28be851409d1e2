package toolcell_test

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/toolcell/toolcell/"

// layers says what the packages of each layer may import beside the standard
// library and their own layer. Providers never import one another.
var layers = map[string][]string{
	"codeinterp":             {},
	"codeinterp/output":      {"codeinterp"},
	"codeinterp/driver":      {"codeinterp", "golang.org/x/sync"},
	"internal":               {"codeinterp", "golang.org/x/image", "golang.org/x/sys"},
	"internal/shelltest":     {"codeinterp", "internal/race", "shell"},
	"internal/workspacetest": {"codeinterp", "files", "workspace"},
	"conformance":            {"codeinterp", "internal/procfs"},
	"providers/inmemory":     {"codeinterp", "internal", "golang.org/x/sync", "modernc.org"},
	"providers/subprocess":   {"codeinterp", "internal", "golang.org/x/sync", "golang.org/x/sys"},
	"providers/jupyter":      {"codeinterp", "internal", "golang.org/x/sync", "golang.org/x/sys", "github.com/gorilla/websocket"},
	"files":                  {"codeinterp", "internal"},
	"notebook":               {"codeinterp", "internal/artifact", "internal/jsontally"},
	"shell":                  {"codeinterp"},
	"tools/format":           {"tools"},
	"tools/secret":           {"codeinterp"},
	"tools":                  {"codeinterp", "files", "internal", "shell", "github.com/invopop/jsonschema", "github.com/tidwall/gjson", "golang.org/x/image"},
	"mcpserver":              {"codeinterp", "internal/jsontally", "tools", "workspace", "github.com/modelcontextprotocol/go-sdk"},
	"tools/oteltools":        {"codeinterp", "tools", "go.opentelemetry.io/otel"},
	"workspace":              {"codeinterp", "files", "shell", "tools", "golang.org/x/sync"},
	"workspace/local":        {"codeinterp", "files", "shell", "workspace", "providers/subprocess"},
	"workspace/memory":       {"codeinterp", "files", "workspace", "providers/inmemory"},
	"workspace/jupyter":      {"codeinterp", "files", "shell", "workspace", "providers/jupyter"},

	"tools/codemode/mcptools": {"codeinterp", "tools", "internal/ansi", "internal/jsontally", "internal/room", "golang.org/x/sys", "github.com/modelcontextprotocol/go-sdk"},
}

// TestLayers keeps the dependencies pointing one way: a package that is not
// listed may import anything, and a new one at the top has to be listed.
func TestLayers(t *testing.T) {
	for _, p := range list(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`) {
		pkg, imports, _ := strings.Cut(p, " ")
		pkg = strings.TrimPrefix(pkg, module)
		layer := layerOf(pkg)
		if layer == "" {
			if top, _, _ := strings.Cut(pkg, "/"); top != "cmd" && top != "examples" && pkg+"/" != module {
				t.Errorf("%s belongs to no layer", pkg)
			}
			continue
		}
		for imp := range strings.FieldsSeq(imports) {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") {
				continue
			}
			if rel := strings.TrimPrefix(imp, module); !within(rel, layer) && !within(rel, layers[layer]...) {
				t.Errorf("%s must not import %s", pkg, rel)
			}
		}
	}
}

// TestConformanceIsForTestsOnly keeps package testing out of programs.
func TestConformanceIsForTestsOnly(t *testing.T) {
	for _, p := range list(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`) {
		pkg, imports, _ := strings.Cut(p, " ")
		for imp := range strings.FieldsSeq(imports) {
			if imp == module+"conformance" || imp == "testing" && pkg != module+"conformance" && pkg != module+"internal/leftover" && !strings.HasSuffix(pkg, "test") {
				t.Errorf("%s must not import %s outside of its tests", pkg, imp)
			}
		}
	}
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append(append([]string{"list"}, args...), "./...")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// layerOf returns the longest entry of layers that holds pkg.
func layerOf(pkg string) string {
	best := ""
	for l := range layers {
		if within(pkg, l) && len(l) > len(best) {
			best = l
		}
	}
	return best
}

func within(path string, roots ...string) bool {
	for _, r := range roots {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}
