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
	"cmd/toolcell":                        5329,
	"cmd/toolcell/internal/images":        97,
	"cmd/toolcell/internal/inputs":        62,
	"cmd/toolcell/internal/keeper":        522,
	"cmd/toolcell/internal/outdir":        192,
	"cmd/toolcell/internal/terminal":      666,
	"cmd/toolcell/internal/unfinished":    214,
	"codeinterp":                          3600,
	"codeinterp/driver":                   5214,
	"conformance":                         7432,
	"egress":                              650,
	"egress/gate":                         1850,
	"environments":                        1589,
	"files":                               1494,
	"git":                                 610,
	"internal/ansi":                       99,
	"internal/artifact":                   273,
	"internal/callers":                    31,
	"internal/callstest":                  430,
	"internal/completetest":               90,
	"internal/fakejupyter":                945,
	"internal/filestest":                  225,
	"internal/floors":                     181,
	"internal/frames":                     490,
	"internal/fsentry":                    63,
	"internal/goldentest":                 35,
	"internal/hostiletest":                370,
	"internal/humanevaltest":              53,
	"internal/interpreter":                492,
	"internal/jsontally":                  50,
	"internal/jsvalue":                    27,
	"internal/jupytertest":                302,
	"internal/leftover":                   124,
	"internal/lossnote":                   45,
	"internal/mimedata":                   41,
	"internal/observe":                    382,
	"internal/picture":                    167,
	"internal/plainjson":                  20,
	"internal/plaintext":                  292,
	"internal/probecache":                 242,
	"internal/procfs":                     247,
	"internal/pybuild":                    779,
	"internal/pydriver":                   30,
	"internal/pytools":                    46,
	"internal/pyvalue":                    13,
	"internal/room":                       150,
	"internal/rootfs":                     1206,
	"internal/sandbox":                    5980,
	"internal/sandbox/acl":                118,
	"internal/sandbox/diskuse":            162,
	"internal/sandbox/forkexec":           383,
	"internal/sandbox/netgate":            640,
	"internal/sandbox/rmtree":             223,
	"internal/sandbox/seccomp":            463,
	"internal/scripted":                   759,
	"internal/scriptfile":                 29,
	"internal/scrub":                      854,
	"internal/shellboot":                  16,
	"internal/shelltest":                  403,
	"internal/shorten":                    33,
	"internal/tier":                       30,
	"internal/typescript":                 4328,
	"internal/typescripttest":             345,
	"mcpserver":                           2627,
	"notebook":                            1231,
	"providers/inmemory":                  1147,
	"providers/inmemory/engine":           224,
	"providers/inmemory/memfs":            1030,
	"providers/inmemory/python":           1000,
	"providers/inmemory/python/pack":      536,
	"providers/inmemory/quickjs":          8392,
	"providers/inmemory/quickjs/bytecode": 796,
	"providers/inmemory/quickjs/system":   122,
	"providers/inmemory/typescript":       161,
	"providers/inmemory/wasm/machine":     750,
	"providers/inmemory/wasm/rewrite":     700,
	"providers/inmemory/wasm/wasi":        1168,
	"providers/jupyter":                   3186,
	"providers/jupyter/internal/kernel":   4631,
	"providers/jupyter/internal/server":   1552,
	"providers/jupyter/internal/wire":     1071,
	"providers/subprocess":                5480,
	"providers/subprocess/internal/cells": 564,
	"providers/subprocess/internal/pump":  265,
	"shell":                               863,
	"tools":                               5506,
	"tools/codemode":                      2369,
	"tools/codemode/mcptools":             2020,
	"tools/format":                        1773,
	"tools/oteltools":                     565,
	"tools/secret":                        70,
	"workspace":                           875,
	"workspace/internal/workspacetest":    84,
	"workspace/jupyter":                   186,
	"workspace/local":                     147,
	"workspace/memory":                    240,
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
