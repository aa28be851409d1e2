//go:build real && unix

package subprocess_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// newerNode returns TypeScript with a node that could take types out itself.
func newerNode(t testing.TB) subprocess.Language {
	t.Helper()
	l := subprocess.TypeScript()
	path, err := filepath.Abs("../../.testenv/mcp/node")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal("no .testenv/mcp/node; run make testenv: ", err)
	}
	l.Commands = []string{path}
	return l
}

// typeScriptPrograms behave the same in every node. Each is the next one of a
// context, and again a program of its own where alone is set.
var typeScriptPrograms = []struct {
	name, code, want string
	alone            bool
}{
	{"types", "interface A<T> { x: T }\ntype B = A<number> | null;\nconst f = (b: B): number => b!.x as number;\nf({ x: 4 }) satisfies number", "ok value=4", true},
	{"declared again", "const a: number = 1;\nlet b: string = 'b'", "ok", true},
	{"declared again", "const a: string = 'a';\nlet b: number = 2\na + b", "ok value=a2", true},
	{"await", "const v: number = await Promise.resolve<number>(7);\nv", "ok value=7", true},
	{"enum", "enum E { A = 2, B }\nE.B", "ok value=3", true},
	{"const enum", "const enum C { A = 5 }\nC.A", "ok value=5", true},
	{"declare enum", "declare enum D { A }\n1", "ok value=1", true},
	{"namespace", "namespace N { export const v: number = 3 }\nN.v", "error error=SyntaxError: Namespaces are not supported: write an object or a module", true},
	{"parameter properties", "class P { constructor(private x: number) {}\n get() { return this.x } }\nnew P(4).get()", "ok value=4", true},
	{"assertion", "const s: any = 'str';\nlet n = <string>s;\nn.length", "ok value=3", true},
	{"import equals", "import fs = require('fs');\ntypeof fs.existsSync", "ok value=function", true},
	{"imports", "import type { Stats } from 'fs';\nimport { existsSync, type PathLike } from 'fs';\nimport * as path from 'path'\nlet p: PathLike = path.sep;\nexistsSync(p) as boolean", "ok value=true", true},
	{"kept import", "existsSync('/') as boolean", "ok value=true", false},
	{"dynamic import", "let j: typeof import('path') = await import('path');\nj.join('a', 'b')", "ok value=a/b", true},
	{"imports of both kinds", "import { sep, type PlatformPath } from 'path';\nconst dict = { import<T>(x: T) { return x } };\nlet k: PlatformPath = await import('path');\n[k.sep === sep, dict.import(1)].join()", "ok value=true,1", true},
	{"export", "export const e: number = 6;\nexport default function g(): number { return e }\ng()", "ok value=6", true},
	{"object", "{ a: 1 as number, b: <any>2 }", "ok value={ a: 1, b: 2 }", true},
	{"object", "{ a: 1, b: 'x' as string }", "ok value={ a: 1, b: 'x' }", true},
	{"constant", "NaN", "ok value=NaN", true},
	{"nothing", "interface Only {}", "ok", true},
	{"abstract", "abstract class R<T> { abstract f(): T; declare x: number; y?: T }\nclass S extends R<number> { override f() { return 8 } }\nnew S().f()", "ok value=8", true},
	{"overloads", "function o(a: string): string;\nfunction o(a: number): number;\nfunction o(a: any) { return a }\no(9)", "ok value=9", true},
	{"thrown", "throw new TypeError('t' as string)", "error error=TypeError: t", true},
	{"duplicate", "let q: number = 1;\nlet q: number = 2", "error error=SyntaxError: Identifier 'q' has already been declared", true},
	{"return type", "const arrow = async <T,>(x: T): Promise<T> => x;\nawait arrow(10)", "ok value=10", true},
}

func TestTypeScript(t *testing.T) {
	testTypeScript(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.TypeScript()}, Grace: time.Minute}))
	if tier.Full {
		o := subprocess.Options{Languages: []subprocess.Language{newerNode(t)}, Grace: time.Minute}
		testTypeScript(t, open(t, o))
		o.Warm = &subprocess.Warm{}
		testTypeScript(t, open(t, o))
	}
}

func testTypeScript(t *testing.T, ci *subprocess.Stateful) {
	n := newNotebook(t, ci, "typescript")
	for _, tt := range typeScriptPrograms {
		t.Run(tt.name, func(t *testing.T) {
			results := []codeinterp.Result{n.run(tt.code, nil)}
			if tt.alone && tier.Full {
				results = append(results, run(t, ci, "typescript", tt.code, nil))
			}
			for _, res := range results {
				if got := summary(res); got != tt.want || res.Stderr() != "" {
					t.Errorf("got  %s, stderr %q\nwant %s", got, res.Stderr(), tt.want)
				}
			}
		})
	}
	t.Run("positions", func(t *testing.T) { testTypeScriptPositions(t, n) })
	t.Run("stopped", func(t *testing.T) {
		for _, code := range []string{"let t: number = 0;\nfor (;;) t++", "enum U { A }\nfor (;;);"} {
			res := n.run(code, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
			if res.Status != codeinterp.StatusTimeout || res.StateLost {
				t.Errorf("%q: got %s", code, summary(res))
			}
		}
	})
}

// testTypeScriptPositions has errors in the original's third line, with types
// before them, once in a line that text was written into.
func testTypeScriptPositions(t *testing.T, n *notebook) {
	for _, tt := range []struct{ name, code, at string }{
		{"blanked", "interface Wide {\n  a: number }\nfunction g(x: Wide): number { throw new Error('deep') }\n\ng({ a: 1 })", ":3:37"},
		{"written", "enum V { A, B }\n\nenum W { C } function h(x: V): number { throw new Error('deep') }\n\nh(V.A)", ":3:47"},
	} {
		res := n.run(tt.code, nil)
		if res.Error == nil || res.Error.Line != 3 {
			t.Fatalf("%s: got %+v, want line 3", tt.name, res.Error)
		}
		report := strings.Join(res.Error.Traceback, "\n")
		if !strings.Contains(report, tt.at) || !strings.Contains(report, ":5:1") {
			t.Errorf("%s: got %s\nwant %s and :5:1", tt.name, report, tt.at)
		}
	}
	res := n.run("const a: number = 1;\nconst b: = 2;", nil)
	if res.Error == nil || res.Error.Name != "SyntaxError" || res.Error.Line != 2 {
		t.Errorf("got %+v", res.Error)
	}
}
