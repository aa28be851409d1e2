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
	"cmd/toolcell":                        5150,
	"cmd/toolcell/internal/images":        78,
	"cmd/toolcell/internal/inputs":        51,
	"cmd/toolcell/internal/outdir":        115,
	"cmd/toolcell/internal/terminal":      556,
	"cmd/toolcell/internal/unfinished":    206,
	"codeinterp":                          3789,
	"codeinterp/driver":                   5250,
	"conformance":                         5380,
	"egress":                              668,
	"egress/gate":                         1867,
	"environments":                        1399,
	"files":                               1308,
	"git":                                 644,
	"internal/ansi":                       99,
	"internal/artifact":                   273,
	"internal/callers":                    30,
	"internal/completetest":               90,
	"internal/dirwalk":                    97,
	"internal/filestest":                  207,
	"internal/frames":                     387,
	"internal/fsentry":                    63,
	"internal/goldentest":                 35,
	"internal/humanevaltest":              70,
	"internal/interpreter":                438,
	"internal/jsontally":                  20,
	"internal/jsvalue":                    27,
	"internal/jupytertest":                215,
	"internal/keeper":                     195,
	"internal/leftover":                   105,
	"internal/lossnote":                   45,
	"internal/mimedata":                   41,
	"internal/observe":                    390,
	"internal/packtest":                   65,
	"internal/picture":                    153,
	"internal/plainjson":                  20,
	"internal/plaintext":                  273,
	"internal/probecache":                 230,
	"internal/procfs":                     204,
	"internal/pybuild":                    615,
	"internal/pydriver":                   28,
	"internal/pytools":                    46,
	"internal/pyvalue":                    13,
	"internal/rootfs":                     888,
	"internal/sandbox":                    5285,
	"internal/sandbox/acl":                84,
	"internal/sandbox/diskuse":            88,
	"internal/sandbox/forkexec":           209,
	"internal/sandbox/netgate":            755,
	"internal/sandbox/rmtree":             192,
	"internal/sandbox/seccomp":            475,
	"internal/scriptfile":                 29,
	"internal/scrub":                      601,
	"internal/shellboot":                  16,
	"internal/shorten":                    33,
	"internal/tier":                       30,
	"internal/typescript":                 3655,
	"internal/typescripttest":             67,
	"mcpserver":                           2309,
	"notebook":                            1094,
	"providers/inmemory":                  1236,
	"providers/inmemory/engine":           270,
	"providers/inmemory/fetch":            209,
	"providers/inmemory/memfs":            939,
	"providers/inmemory/python":           1563,
	"providers/inmemory/python/pack":      468,
	"providers/inmemory/python/science":   267,
	"providers/inmemory/quickjs":          7449,
	"providers/inmemory/quickjs/bytecode": 906,
	"providers/inmemory/quickjs/system":   70,
	"providers/inmemory/typescript":       161,
	"providers/inmemory/wasm/machine":     1132,
	"providers/inmemory/wasm/rewrite":     1340,
	"providers/inmemory/wasm/wasi":        1128,
	"providers/jupyter":                   2690,
	"providers/jupyter/internal/kernel":   3513,
	"providers/jupyter/internal/server":   985,
	"providers/jupyter/internal/wire":     808,
	"providers/subprocess":                5845,
	"providers/subprocess/internal/cells": 185,
	"providers/subprocess/internal/kept":  830,
	"providers/subprocess/internal/pump":  205,
	"shell":                               1030,
	"shell/screen":                        346,
	"tools":                               5454,
	"tools/codemode":                      2110,
	"tools/codemode/mcptools":             1537,
	"tools/format":                        1389,
	"tools/oteltools":                     482,
	"tools/secret":                        67,
	"workspace":                           1383,
	"workspace/internal/workspacetest":    84,
	"workspace/jupyter":                   209,
	"workspace/local":                     356,
	"workspace/memory":                    88,
	"workspace/template":                  242,
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
