//go:build real

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
)

// scripts writes files into a directory that other users may read.
func scripts(t *testing.T, files map[string]string) string {
	t.Helper()
	top := leftover.Dir(t)
	for name, code := range files {
		if err := os.WriteFile(filepath.Join(top, name), []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// needs skips where a command is not installed, and fails there in CI.
func needs(t *testing.T, command string) {
	t.Helper()
	if _, err := exec.LookPath(command); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// TestScripts: programs of files find what their own interpreters give them.
func TestScripts(t *testing.T) {
	dir := scripts(t, map[string]string{
		"args.py":   "import sys\nprint('|'.join(sys.argv))",
		"file.py":   "import os\nprint(os.path.isabs(__file__), os.path.basename(__file__))",
		"fails.py":  "import sys\n\ndef f():\n    1 / 0\nf()",
		"own.py":    "import traceback\ntry: 1 / 0\nexcept Exception: traceback.print_exc()",
		"import.py": "import helper, os\nprint(helper.v, os.getcwd())",
		"helper.py": "v = 5\n",
		"write.py":  "open('new', 'w').write('x')\nprint('written')",
		"args.js":   "#!/usr/bin/env node\nconsole.log(process.argv.slice(1).join('|'))",
		"fails.ts":  "const n: number = 1;\n(n as any).x.y",
		"near.js":   "console.log(require('./near.json').a)",
		"near.json": `{"a": 3}`,
		"args.sh":   "#!/bin/bash\necho \"$0|$1|$2|$#\"\nexit 4",
		"syntax.sh": "echo !(x)",
		"where.sh":  "pwd; cat near.json",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	odd := `a'b "c" $x \ é`
	for _, tt := range []struct {
		name, command  string
		args           []string
		code           int
		stdout, stderr string // stderr: a part of it
	}{
		{"arguments of python", "python3", []string{at("args.py"), odd, "--memory"}, 0, at("args.py") + "|" + odd + "|--memory\n", ""},
		{"python's file", "python3", []string{at("file.py")}, 0, "True file.py\n", ""},
		{"the name in a traceback", "python3", []string{at("fails.py"), "a"}, 1, "", `File "` + at("fails.py") + `", line 4, in f`},
		{"the name in a traceback of its own", "python3", []string{at("own.py")}, 0, "", `File "` + at("own.py") + `", line 2, in <module>` + "\n    try: 1 / 0"},
		{"a neighbour", "python3", []string{at("import.py")}, 1, "", "use --in " + at("helper.py") + ", or --dir " + dir},
		{"a neighbour of javascript", "node", []string{at("near.js")}, 1, "", at("near.json") + " is beside the program"},
		{"a neighbour with --dir", "python3", []string{"--dir", dir, at("import.py")}, 0, "5 " + dir + "\n", ""},
		{"reading is not writing", "python3", []string{"--dir", dir, at("write.py")}, 1, "", "Error"},
		{"arguments of node", "node", []string{at("args.js"), odd}, 0, at("args.js") + "|" + odd + "\n", ""},
		{"typescript's name", "node", []string{at("fails.ts")}, 1, "", at("fails.ts") + ":2"},
		{"node's neighbour", "node", []string{"--dir", dir, at("near.js")}, 0, "3\n", ""},
		{"arguments of bash", "bash", []string{at("args.sh"), odd, "b"}, 4, at("args.sh") + "|" + odd + "|b|2\n", ""},
		{"bash's syntax", "bash", []string{at("syntax.sh"), "A"}, 2, "", at("syntax.sh") + ": eval: line 1: `echo !(x)'"},
		{"bash's name without a file", "bash", []string{"--language", "bash", "-e", "echo \"$0 $@\"; no_such_command", "x", "y"}, 127, "bash x y\n", "bash: line 1: no_such_command"},
		{"bash's directory", "bash", []string{"--dir", dir, at("where.sh")}, 0, dir + "\n" + `{"a": 3}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			needs(t, tt.command)
			args := append([]string{"run", "--provider", "subprocess"}, tt.args...)
			if code, stdout, stderr := toolcell(t.Context(), "", args...); code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, %q, ...%q...", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

// TestFilesAsUnderNode: a file of JavaScript may return, and its errors name it, in each
// provider.
func TestFilesAsUnderNode(t *testing.T) {
	dir := scripts(t, map[string]string{
		"returns.js": "#!/usr/bin/env node\nif (process.argv.length < 3) {\n  console.log(arguments.length, require === arguments[1], this === module.exports);\n  return;\n}\nconsole.log('no')",
		"fails.js":   "if (!module) return; null.x",
		"syntax.js":  "if (module) return;\nlet = ;",
		"strict.mjs": "misspelt = 5",
		"program.js": "null.x",
		"own.ts":     "const f = (n: number): number => { throw new Error('own') }\ntry { f(1) } catch (e) { console.log((e as Error).stack) }",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tt := range []struct {
		file           string
		code           int
		stdout, stderr string // parts of them
	}{
		{"returns.js", 0, "5 true true\n", ""},
		{"fails.js", 1, "", at("fails.js") + ":1:"},
		{"syntax.js", 1, "", "syntax.js:2"},
		{"strict.mjs", 1, "", "misspelt"},
		{"program.js", 1, "", "    at " + at("program.js") + ":1:"},
		{"own.ts", 0, "(" + at("own.ts") + ":1:", ""},
	} {
		for _, provider := range []string{"inmemory", "subprocess"} {
			t.Run(tt.file+" "+provider, func(t *testing.T) {
				if provider == "subprocess" {
					needs(t, "node")
				}
				code, stdout, stderr := toolcell(t.Context(), "", "run", "--provider", provider, at(tt.file))
				if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) || strings.Contains(stdout+stderr, "cell-1") {
					t.Errorf("code %d, stdout %q, stderr %q; want %d, ...%q..., ...%q...", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
				}
			})
		}
	}
}
