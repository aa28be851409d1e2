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
	"cmd/toolcell":                        5539,
	"cmd/toolcell/internal/images":        78,
	"cmd/toolcell/internal/inputs":        51,
	"cmd/toolcell/internal/outdir":        115,
	"cmd/toolcell/internal/terminal":      592,
	"cmd/toolcell/internal/unfinished":    206,
	"codeinterp":                          3743,
	"codeinterp/driver":                   5180,
	"conformance":                         5636,
	"egress":                              702,
	"egress/gate":                         2084,
	"environments":                        1446,
	"files":                               1332,
	"git":                                 622,
	"internal/ansi":                       99,
	"internal/artifact":                   273,
	"internal/attachtest":                 201,
	"internal/callers":                    30,
	"internal/callstest":                  197,
	"internal/completetest":               90,
	"internal/fakejupyter":                796,
	"internal/filestest":                  207,
	"internal/floors":                     196,
	"internal/frames":                     387,
	"internal/fsentry":                    63,
	"internal/goldentest":                 35,
	"internal/hostiletest":                266,
	"internal/humanevaltest":              53,
	"internal/interpreter":                448,
	"internal/jsontally":                  20,
	"internal/jsvalue":                    27,
	"internal/keeper":                     235,
	"internal/jupytertest":                296,
	"internal/leftover":                   94,
	"internal/lossnote":                   45,
	"internal/mimedata":                   41,
	"internal/observe":                    377,
	"internal/packtest":                   65,
	"internal/picture":                    153,
	"internal/plainjson":                  20,
	"internal/plaintext":                  273,
	"internal/probecache":                 234,
	"internal/procfs":                     213,
	"internal/pybuild":                    815,
	"internal/pydriver":                   28,
	"internal/pytools":                    46,
	"internal/pyvalue":                    13,
	"internal/room":                       83,
	"internal/rootfs":                     1037,
	"internal/sandbox":                    5428,
	"internal/sandbox/acl":                84,
	"internal/sandbox/diskuse":            145,
	"internal/sandbox/forkexec":           217,
	"internal/sandbox/netgate":            742,
	"internal/sandbox/rmtree":             219,
	"internal/sandbox/seccomp":            473,
	"internal/scripted":                   734,
	"internal/scriptfile":                 29,
	"internal/screen":                     365,
	"internal/scrub":                      601,
	"internal/shellboot":                  16,
	"internal/shelltest":                  286,
	"internal/shorten":                    33,
	"internal/tier":                       30,
	"internal/typescript":                 3832,
	"internal/typescripttest":             221,
	"mcpserver":                           2355,
	"notebook":                            1078,
	"providers/inmemory":                  1215,
	"providers/inmemory/engine":           256,
	"providers/inmemory/fetch":            209,
	"providers/inmemory/memfs":            1073,
	"providers/inmemory/python":           1480,
	"providers/inmemory/python/pack":      548,
	"providers/inmemory/python/science":   830,
	"providers/inmemory/quickjs":          7610,
	"providers/inmemory/quickjs/bytecode": 862,
	"providers/inmemory/quickjs/system":   70,
	"providers/inmemory/typescript":       161,
	"providers/inmemory/wasm/machine":     1120,
	"providers/inmemory/wasm/rewrite":     1230,
	"providers/inmemory/wasm/wasi":        1245,
	"providers/jupyter":                   2760,
	"providers/jupyter/internal/kernel":   3771,
	"providers/jupyter/internal/server":   1329,
	"providers/jupyter/internal/wire":     901,
	"providers/subprocess":                6245,
	"providers/subprocess/internal/cells": 198,
	"providers/subprocess/internal/kept":  877,
	"providers/subprocess/internal/pump":  195,
	"shell":                               947,
	"tools":                               5301,
	"tools/codemode":                      2155,
	"tools/codemode/mcptools":             1775,
	"tools/format":                        1498,
	"tools/oteltools":                     469,
	"tools/secret":                        67,
	"workspace":                           1392,
	"workspace/internal/workspacetest":    84,
	"workspace/jupyter":                   194,
	"workspace/local":                     351,
	"workspace/memory":                    88,
	"workspace/template":                  250,
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
