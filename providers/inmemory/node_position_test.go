package inmemory_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// failing are programs that end in an error. The line and the column of its first
// frame have to be node's.
var failing = []string{
	"throw new Error('x')",
	"throw Error('x')",
	"\n\n  throw new RangeError('x')",
	"function f() {\n  throw new TypeError('in f')\n}\nf()",
	"const make = () => new Error('made')\n\nthrow make()",
	"const errors = { Own: RangeError }\nthrow new errors.Own('x')",
	"class AppError extends Error {\n  constructor(m) {\n    super(m)\n    this.name = 'AppError'\n  }\n}\nthrow new AppError('x')",
	"const renewed = 1\nfunction g(n) {\n  if (n) throw new Error(`n is ${n}`)\n}\n  g(renewed)",
	"null.x",
	"let o\n  o.x",
	"const o = { a: {} }\no.a.b.c",
	"const o = {}\n  o.f()",
	"const o = { a: {} }\no.a\n  .f()",
	"const list = [1]\nlist.mapp((x) => x)",
	"foo",
	"1\n  + foo",
	"foo()",
	"\tfoo.bar",
	"[1, 2].map((x) => x.y.z)",
	"[1, 2].map((x) => {\n  return x.f()\n})",
	"const c = 1\nc = 2",
	"x\nlet x = 1",
	"class A {\n  constructor() {\n    this.m()\n  }\n}\nnew A()",
	"class A { #p = 1; m() {\n return this.q.r } }\nnew A().m()",
	"function F() {\n  this.nope()\n}\nnew F()",
	"const f = async () => {\n  await null\n  null.x\n}\nf()",
	"setTimeout(() => {\n  throw new Error('later')\n}, 1)",
	"Promise.reject(new Error('rejected'))",
	"queueMicrotask(() => { undefined.x })",
	"é = 'ä'; null.x",
	"const s = `a\n${'b'}`\nnull[s]",
	"let u\nu.x = 1",
	"const m = new Map()\nm.get('k').push(1)",
	"const k = 5\nk()",
	"const k = 5\nnew k()",
	"const k = {}\nnew   k.x(1)",
	"function f(o) {\n  return o.f(1, ')')\n}\nf({})",
	"const f = (o) => { return o.x.f(); }\nf({})",
	"const f = (a) => { return a() }\nf()",
	"const f = () => undefined\nf().x",
	"const o = {}\no['x'].f()",
	"const o = {}\no.x['f']()",
	"let u\nu['a' + 'b'] = 1",
	"const c = 1\nc++",
	"const c = 1\nc  += 5",
	"class A {\n  constructor(x) {\n    if (!x) throw new TypeError('no x')\n  }\n}\nclass B extends A {}\nnew B()",
	"function outer() {\n  const inner = () => { throw new Error('deep') }\n  inner()\n}\nouter()",
}

// TestNodePositions compares the positions of errors.
func TestNodePositions(t *testing.T) {
	want := nodePositions(t, lookNode(t))
	s := open(t, nil)
	first := regexp.MustCompile(`program\.js:\d+:\d+`)
	for i, code := range failing {
		res, err := s.RunCode(t.Context(), "javascript", code, nil)
		if err != nil || res.Status != codeinterp.StatusError || res.Error == nil {
			t.Fatalf("%s: %s, %v", code, res.Status, err)
		}
		got := first.FindString(strings.Join(res.Error.Traceback, "\n"))
		if got != want[i] || !strings.HasPrefix(got, fmt.Sprintf("program.js:%d:", res.Error.Line)) {
			t.Errorf("%s\n%s, line %d, want %s", code, got, res.Error.Line, want[i])
		}
	}
}

// nodePositions returns where each of failing fails under node.
func nodePositions(t *testing.T, node string) []string {
	t.Helper()
	const driver = `
		const vm = require("vm"), out = [];
		const first = (e) => out.push(/program\.js:\d+:\d+/.exec(e.stack)?.[0] ?? "");
		process.on("uncaughtException", first);
		(async () => {
			for (const code of JSON.parse(process.argv[1])) {
				const n = out.length;
				const context = vm.createContext({ setTimeout, queueMicrotask });
				try { vm.runInContext(code, context, { filename: "program.js" }) } catch (e) { first(e) }
				while (out.length === n) await new Promise((r) => setTimeout(r, 1));
			}
			console.log(JSON.stringify(out));
		})();`
	list, err := json.Marshal(failing)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", driver, string(list))
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if err := json.Unmarshal(b, &out); err != nil || len(out) != len(failing) {
		t.Fatalf("%d positions, %v", len(out), err)
	}
	return out
}

// lookNode returns the path of node; without one the test is skipped.
func lookNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("node is not installed")
		}
		t.Skip("node is not installed")
	}
	return node
}

// TestMissingImportLine: an import declaration of what is missing has its line.
func TestMissingImportLine(t *testing.T) {
	ci, err := inmemory.New(both())
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	for language, code := range map[string]string{
		"javascript": "// nope-y\nlet a = 1\nimport x from 'nope-y'\nx",
		"typescript": "interface A {\n  b: number\n}\nimport { c } from \"nope-y\"\nc",
	} {
		want := 3
		if language == "typescript" {
			want = 4
		}
		res, err := ci.RunCode(t.Context(), language, code, nil)
		if err != nil || res.Error == nil || res.Error.MissingModule != "nope-y" || res.Error.Line != want {
			t.Errorf("%s: %+v, %v", language, res.Error, err)
		}
	}
}

// TestPositionsOfRequired: a file of require has the columns of its own first line.
func TestPositionsOfRequired(t *testing.T) {
	s := open(t, nil)
	for code, want := range map[string]string{
		"null.x":                      "/m.js:1:6",
		"\nnull.x":                    "/m.js:2:6",
		"const x = = 1":               "/m.js:1:11",
		"#!/usr/bin/env node\nnull.x": "/m.js:2:6",
		"module.exports = () => { throw new Error('x') }": "/m.js:1:32",
	} {
		program := fmt.Sprintf(`require("fs").writeFileSync("/m.js", %q); try { require("/m.js")() } catch (e) { console.log(e.stack) }`, code)
		res, err := s.RunCode(t.Context(), "javascript", program, nil)
		if got := regexp.MustCompile(`/m\.js:\d+:\d+`).FindString(res.Stdout()); err != nil || got != want {
			t.Errorf("%s\n%s, want %s: %s %v", code, got, want, res.Stdout(), err)
		}
	}
}
