package toolcell_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// budgets are the most lines of Go, without tests, that a folder may have. Whoever
// needs more removes as much elsewhere in the folder, or says in the commit which
// promise of the README needs them.
var budgets = map[string]int{
	"cmd/toolcell":                         6390,
	"cmd/toolcell/internal/keeper":         600,
	"cmd/toolcell/internal/terminal":       670,
	"codeinterp":                           3640,
	"codeinterp/driver":                    5220,
	"conformance":                          7450,
	"environments":                         1640,
	"files":                                1500,
	"internal/ansi":                        124,
	"internal/callers":                     40,
	"internal/observe":                     380,
	"internal/scrub":                       850,
	"internal/plaintext":                   290,
	"internal/artifact":                    280,
	"internal/callstest":                   430,
	"internal/completetest":                115,
	"internal/fakejupyter":                 950,
	"internal/filestest":                   230,
	"internal/floors":                      197,
	"internal/fsentry":                     90,
	"internal/goldentest":                  63,
	"internal/hostiletest":                 370,
	"internal/humanevaltest":               80,
	"internal/interpreter":                 500,
	"internal/jsontally":                   77,
	"internal/jsvalue":                     55,
	"internal/jupytertest":                 310,
	"internal/leftover":                    148,
	"internal/lossnote":                    72,
	"internal/mimedata":                    69,
	"internal/picture":                     189,
	"internal/plainjson":                   49,
	"internal/probecache":                  230,
	"internal/procfs":                      250,
	"internal/pytools":                     73,
	"internal/pyvalue":                     42,
	"internal/room":                        172,
	"internal/rootfs":                      1210,
	"internal/sandbox":                     6050,
	"internal/sandbox/acl":                 142,
	"internal/sandbox/diskuse":             184,
	"internal/sandbox/forkexec":            390,
	"internal/sandbox/rmtree":              205,
	"internal/sandbox/seccomp":             440,
	"internal/scripted":                    760,
	"internal/scriptfile":                  57,
	"internal/shellboot":                   45,
	"internal/shelltest":                   410,
	"internal/shorten":                     61,
	"internal/tier":                        58,
	"internal/typescript":                  4540,
	"internal/typescripttest":              360,
	"mcpserver":                            2640,
	"notebook":                             1300,
	"providers/inmemory":                   990,
	"providers/inmemory/engine":            187,
	"providers/inmemory/memfs":             1030,
	"providers/inmemory/quickjs":           8910,
	"providers/inmemory/quickjs/bytecode":  570,
	"providers/inmemory/quickjs/source":    600,
	"providers/inmemory/quickjs/system":    146,
	"providers/inmemory/typescript":        183,
	"providers/jupyter":                    3190,
	"providers/jupyter/internal/kernel":    4630,
	"providers/jupyter/internal/server":    1560,
	"providers/jupyter/internal/wire":      1080,
	"providers/subprocess":                 5630,
	"providers/subprocess/internal/cells":  570,
	"providers/subprocess/internal/frames": 480,
	"providers/subprocess/internal/pump":   270,
	"shell":                                860,
	"tools":                                5460,
	"tools/codemode":                       2470,
	"tools/codemode/mcptools":              2230,
	"tools/format":                         1780,
	"tools/oteltools":                      570,
	"tools/secret":                         75,
	"workspace":                            940,
	"workspace/internal/workspacetest":     110,
	"workspace/jupyter":                    207,
	"workspace/local":                      156,
	"workspace/memory":                     240,
}

// TestBudgets: what was made small stays small, and every folder has a budget.
func TestBudgets(t *testing.T) {
	lines := map[string]int{}
	for _, file := range strings.Fields(strings.Join(list(t, "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}{{range .IgnoredGoFiles}}{{$d}}/{{.}} {{end}}`), " ")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wd, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		dir, err := filepath.Rel(wd, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		if dir = filepath.ToSlash(dir); !strings.HasSuffix(file, "_test.go") {
			lines[dir] += bytes.Count(text, []byte("\n"))
		}
	}
	for dir, n := range lines {
		if top, _, _ := strings.Cut(dir, "/"); top == "examples" {
			continue
		}
		if budget, ok := budgets[dir]; !ok || n > budget {
			t.Errorf("%s has %d lines, and a budget of %d", dir, n, budget)
		}
	}
	for dir := range budgets {
		if lines[dir] == 0 {
			t.Errorf("%s has a budget and no Go files", dir)
		}
	}
}
