package toolcell_test

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/toolcell/toolcell/"

// layers says what the packages of each layer may import beside the standard
// library and their own layer. Providers never import one another.
var layers = map[string][]string{
	"codeinterp":               {},
	"codeinterp/driver":        {"codeinterp", "golang.org/x/sync"},
	"internal":                 {"codeinterp", "golang.org/x/image", "golang.org/x/sync", "golang.org/x/sys"},
	"internal/pybuild":         {"codeinterp", "providers/inmemory", "github.com/tetratelabs/wazero", "golang.org/x/sync"},
	"shell/screen":             {"github.com/charmbracelet", "shell"},
	"egress":                   {"codeinterp"},
	"conformance":              {"codeinterp", "internal/procfs"},
	"providers/inmemory":       {"codeinterp", "internal", "modernc.org", "github.com/tetratelabs/wazero", "golang.org/x/sync", "golang.org/x/sys"},
	"providers/inmemory/fetch": {"codeinterp", "egress", "providers/inmemory/engine"},
	"environments":             {"codeinterp", "egress", "internal"},
	"providers/subprocess":     {"codeinterp", "egress", "environments", "internal", "github.com/creack/pty", "golang.org/x/sync", "golang.org/x/sys"},
	"providers/jupyter":        {"codeinterp", "internal", "github.com/gorilla/websocket"},
	"git":                      {"codeinterp"},
	"files":                    {"codeinterp", "internal"},
	"notebook":                 {"codeinterp", "internal/artifact", "internal/jsontally", "internal/lossnote"},
	"shell":                    {"codeinterp"},
	"tools/format":             {"internal/plainjson", "tools"},
	"tools/secret":             {"codeinterp", "internal/observe", "internal/scrub"},
	"tools":                    {"codeinterp", "files", "git", "internal", "shell", "github.com/invopop/jsonschema", "github.com/tidwall/gjson", "golang.org/x/image"},
	"mcpserver":                {"codeinterp", "internal/callers", "internal/plaintext", "tools", "workspace", "github.com/modelcontextprotocol/go-sdk"},
	"tools/oteltools":          {"codeinterp", "tools", "go.opentelemetry.io/otel"},
	"workspace":                {"codeinterp", "files", "git", "internal/observe", "internal/plainjson", "shell", "tools"},
	"workspace/local":          {"codeinterp", "egress", "environments", "files", "git", "shell", "workspace", "providers/subprocess"},
	"workspace/template":       {"codeinterp", "egress"},
	"workspace/memory":         {"files", "workspace", "providers/inmemory"},
	"workspace/jupyter":        {"codeinterp", "files", "shell", "workspace", "providers/jupyter"},

	"tools/codemode/mcptools": {"codeinterp", "tools", "internal/ansi", "internal/picture", "internal/shorten", "github.com/modelcontextprotocol/go-sdk"},
}

// TestLayers keeps the dependencies pointing one way: a package that is not
// listed may import anything, and a new one at the top has to be listed. An
// import that is allowed and not used is an error too.
func TestLayers(t *testing.T) {
	used := map[string]bool{}
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
			rel, allowed := strings.TrimPrefix(imp, module), false
			for _, a := range layers[layer] {
				if within(rel, a) {
					allowed, used[layer+" "+a] = true, true
				}
			}
			if !allowed && !within(rel, layer) {
				t.Errorf("%s must not import %s", pkg, rel)
			}
		}
	}
	if runtime.GOOS != "linux" { // where other systems need less
		return
	}
	for layer, allowed := range layers {
		for _, a := range allowed {
			if !used[layer+" "+a] {
				t.Errorf("%s may import %s, and does not", layer, a)
			}
		}
	}
}

// TestDependenciesAreExplained wants a row of RATIONALE's table for each module
// that this one requires, and none for others.
func TestDependenciesAreExplained(t *testing.T) {
	var required []string
	for _, file := range []string{"go.mod", "internal/release/go.mod"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(strings.TrimPrefix(line, "require ")); len(f) == 2 && strings.HasPrefix(f[1], "v") {
				required = append(required, f[0])
			}
		}
	}
	rationale, err := os.ReadFile("RATIONALE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(rationale), "| module | where | why |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var named []string
	for line := range strings.Lines(table) {
		modules, _, _ := strings.Cut(strings.Trim(line, "|- \n"), " |")
		named = append(named, strings.Split(modules, ", ")...)
	}
	explains := func(name, mod string) bool {
		return within(mod, name, "github.com/"+name) || strings.HasSuffix(mod, "/"+name) || strings.Contains(mod, "/"+name+"/v")
	}
	for _, mod := range required {
		if !slices.ContainsFunc(named, func(name string) bool { return name != "" && explains(name, mod) }) {
			t.Errorf("nothing says why there is %s", mod)
		}
	}
	for _, name := range named {
		if name != "" && !slices.ContainsFunc(required, func(mod string) bool { return explains(name, mod) }) {
			t.Errorf("%s is explained, and no requirement", name)
		}
	}
}

// forTests are packages for tests whose name does not say so.
var forTests = []string{module + "conformance", module + "internal/leftover"}

// TestConformanceIsForTestsOnly keeps package testing out of programs.
func TestConformanceIsForTestsOnly(t *testing.T) {
	for _, p := range list(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`) {
		pkg, imports, _ := strings.Cut(p, " ")
		for imp := range strings.FieldsSeq(imports) {
			if imp == module+"conformance" || imp == "testing" && !slices.Contains(forTests, pkg) && !strings.HasSuffix(pkg, "test") {
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
