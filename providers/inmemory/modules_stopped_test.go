package inmemory_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// stoppedFiles writes the files that the programs of TestModuleStopped import.
const stoppedFiles = `const fs = require("fs"); globalThis.times = 0;
	fs.writeFileSync("slow.mjs", "times++; await new Promise((r) => setTimeout(r, 20)); export const Y = 6; export const url = import.meta.url");
	fs.writeFileSync("user.mjs", "import { Y } from './slow.mjs'; export const Z = Y + 1");
	fs.writeFileSync("star.mjs", "export * from './user.mjs'; export * from './plain.mjs'");
	fs.writeFileSync("plain.mjs", "times++; export const P = 5");
	fs.writeFileSync("round.mjs", "import * as other from './round2.mjs'; await new Promise((r) => setTimeout(r, 20)); export const R = () => other.S");
	fs.writeFileSync("round2.mjs", "import { R } from './round.mjs'; export const S = 8; export const r = () => R()");
	fs.writeFileSync("busy.mjs", "while (globalThis.hold); export const B = 7");
	fs.writeFileSync("overbusy.mjs", "import { B } from './busy.mjs'; export { B }; export const C = B + 1");
	fs.writeFileSync("busy.cjs", "exports.half = 1; while (globalThis.hold); exports.whole = 2");
	fs.writeFileSync("exit.mjs", "if (globalThis.hold) process.exit(6); export const E = 9");
	fs.writeFileSync("exit.cjs", "exports.half = 1; if (globalThis.hold) process.exit(6); exports.whole = 2");
	fs.writeFileSync("waits.mjs", "await globalThis.gate; export const W = 10");
	fs.writeFileSync("broken.mjs", "times++; throw new TypeError('broken by itself')");
	fs.writeFileSync("q.mjs", "export const q = import.meta.url + ' ' + import.meta.filename; export const n = ++times");
	fs.writeFileSync("over q.mjs", "export * from './q.mjs?deep/er'")
	fs.writeFileSync("data.json", "[1]"); fs.writeFileSync("common.cjs", "exports.c = 1");
	globalThis.hold = true; 0`

// TestModuleStopped: a module whose import was stopped is evaluated anew when it is
// imported again, and so is what imports it.
func TestModuleStopped(t *testing.T) {
	s := open(t, nil)
	for _, tt := range []struct{ name, stopped, again, want string }{
		{"a throw beside it", `import("./slow.mjs"); await null; throw new Error("x")`, `(await import("./slow.mjs")).Y + times`, "8"},
		{"a rejection beside it", `await Promise.all([import("./user.mjs"), import("nosuchpkg")])`, `(await import("./user.mjs")).Z + times`, "9"},
		{"a module that imports it", `import("./slow.mjs"); await null; throw 1`, `import { Z } from "./star.mjs"; Z + times`, "10"},
		{"what is done stays", `await import("./plain.mjs"); import("./star.mjs"); await null; throw 1`, `const { Z, P } = await import("./star.mjs"); [Z, P, times]`, "[ 7, 5, 3 ]"},
		{"modules in a circle", `import("./round.mjs"); await null; throw 1`, `const a = await import("./round2.mjs"), b = await import("./round.mjs"); a.r() + b.R()`, "16"},
		{"one that computes", "@timeout", `(await import("./busy.mjs")).B`, "7"},
		{"one above that", "@above", `const m = await import("./overbusy.mjs"); m.B + m.C`, "15"},
		{"a required file that computes", "@require", `require("./busy.cjs")`, "{ half: 1, whole: 2 }"},
		{"an imported one", "@common", `(await import("./busy.cjs")).whole`, "2"},
		{"one that exits", `await import("./exit.mjs")`, `(await import("./exit.mjs")).E`, "9"},
		{"a required file that exits", `require("./exit.cjs")`, `require("./exit.cjs")`, "{ half: 1, whole: 2 }"},
		{"one that nothing settles", `globalThis.gate = new Promise(() => {}); await import("./waits.mjs")`, `(await import("./waits.mjs")).W`, "10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := create(t, s, "javascript")
			defer func() { _ = s.DeleteContext(t.Context(), id) }()
			run(t, s, id, stoppedFiles, nil)
			o := &codeinterp.RunOptions{Timeout: 100 * time.Millisecond}
			switch tt.stopped {
			case "@timeout":
				tt.stopped = `await import("./busy.mjs")`
			case "@above":
				tt.stopped = `await import("./overbusy.mjs")`
			case "@require":
				tt.stopped = `require("./busy.cjs")`
			case "@common":
				tt.stopped = `await import("./busy.cjs")`
			default:
				o = nil
			}
			if res := run(t, s, id, tt.stopped, o); res.OK() || res.StateLost {
				t.Fatalf("%v %v", res.Status, res.Error)
			}
			res := run(t, s, id, "globalThis.hold = globalThis.gate = false; "+tt.again, nil)
			if !res.OK() || res.Text() != tt.want {
				t.Errorf("%v, %s, want %s", res.Error, res.Text(), tt.want)
			}
		})
	}
}

// TestModuleGoesOn: a module that waits when a run ends well goes on in a later one.
func TestModuleGoesOn(t *testing.T) {
	s := open(t, nil)
	id := create(t, s, "javascript")
	run(t, s, id, stoppedFiles, nil)
	if res := run(t, s, id, `let open; globalThis.gate = new Promise((r) => { open = r }); const p = import("./waits.mjs"); 0`, nil); !res.OK() {
		t.Fatal(res.Error)
	}
	if res := run(t, s, id, `open(); const m = await p; [m.W, m === await import("./waits.mjs")]`, nil); res.Text() != "[ 10, true ]" {
		t.Errorf("%s, %v", res.Text(), res.Error)
	}
}

// TestModuleQuery: what follows a file's name reaches the module, and makes it
// another one.
func TestModuleQuery(t *testing.T) {
	s := open(t, nil)
	id := create(t, s, "javascript")
	run(t, s, id, stoppedFiles, nil)
	for _, tt := range []struct{ code, want string }{
		{`const a = await import("./q.mjs?2"), b = await import("./q.mjs"), c = await import("./q.mjs?2"); [a === c, a === b, a.q, b.q]`,
			"[ true, false, 'file:///q.mjs?2 /q.mjs', 'file:///q.mjs /q.mjs' ]"},
		{`import { q } from "./q.mjs#part"; q`, "file:///q.mjs#part /q.mjs"},
		{`(await import("./q?x")).q`, "file:///q.mjs?x /q.mjs"},
		{`(await import("./over q.mjs?y=./z")).q`, "file:///q.mjs?deep/er /q.mjs"},
		{`(await import("file:///q.mjs?3")).q`, "file:///q.mjs?3 /q.mjs"},
		{`(await import(new URL("./over%20q.mjs", "file:///"))).q`, "file:///q.mjs?deep/er /q.mjs"},
		{`(await import(import.meta.resolve("./q.mjs"))) === (await import("./q.mjs"))`, "true"},
		{`[(await import("./data.json?1", { with: { type: "json" } })).default, (await import("./common.cjs?1")).c]`, "[ [ 1 ], 1 ]"},
		{`fs.writeFileSync("a?b.mjs", "export const n = 'literal'"); (await import("./a?b.mjs")).n`, "literal"},
		{`fs.writeFileSync("t.mjs", "\nnull.x"); await import("./t.mjs?4").catch((e) => e.stack.split("\n")[1])`, "    at <anonymous> (/t.mjs?4:2:5)"},
		{`await import("./none.mjs?2").catch((e) => e.code)`, "ERR_MODULE_NOT_FOUND"},
		{`await import("file://host/q.mjs").catch((e) => e.code)`, "ERR_MODULE_NOT_FOUND"},
		{`await import("file:///%zz.mjs").catch((e) => e.code)`, "ERR_MODULE_NOT_FOUND"},
	} {
		if res := run(t, s, id, tt.code, nil); res.Text() != tt.want {
			t.Errorf("%s: %s, %v", tt.code, res.Text(), res.Error)
		}
	}
}

// TestModuleThrows: what a module throws is its importer's to catch, and no promise's
// without a handler; and one that could not be loaded leaves nothing behind.
func TestModuleThrows(t *testing.T) {
	s := open(t, nil)
	id := create(t, s, "javascript")
	run(t, s, id, stoppedFiles+`;
		fs.writeFileSync("above.mjs", "import './slow.mjs'; import './broken.mjs'; times = NaN");
		fs.writeFileSync("later.mjs", "import './slow.mjs'; throw new TypeError('later')");
		fs.writeFileSync("rejects.mjs", "Promise.reject(new TypeError('rejected')); export const n = 1");
		fs.writeFileSync("one.mjs", "import './two.mjs'; export const one = 1"); fs.writeFileSync("two.mjs", "import './one.mjs'; import './none.mjs'")`, nil)
	for _, tt := range []struct{ code, text, err string }{
		{`await import("./broken.mjs").catch((e) => e.message)`, "broken by itself", ""},
		{`await import("./above.mjs").catch((e) => e.message + times)`, "broken by itself2", ""},
		{`let m; try { await import("./later.mjs") } catch (e) { m = e.message } m`, "later", ""},
		{`await Promise.allSettled([import("./broken.mjs"), import("./later.mjs")]).then((l) => l.map((r) => r.status))`, "[ 'rejected', 'rejected' ]", ""},
		{`import("./broken.mjs?"); 1`, "", "TypeError: broken by itself"},
		{`import("./later.mjs?"); 1`, "", "TypeError: later"},
		{`await import("./rejects.mjs"); 1`, "", "TypeError: rejected"},
		{`await import("./two.mjs").catch((e) => e.specifier)`, "./none.mjs", ""},
		{`fs.writeFileSync("none.mjs", ""); (await import("./one.mjs")).one`, "1", ""},
		{`fs.writeFileSync("names.mjs", "import { lacks } from './one.mjs'"); await import("./names.mjs").catch((e) => e.name)`, "SyntaxError", ""},
		{`fs.writeFileSync("names.mjs", "import { one } from './one.mjs'; export default one"); (await import("./names.mjs")).default`, "1", ""},
	} {
		res := run(t, s, id, tt.code, nil)
		err := ""
		if res.Error != nil {
			err = res.Error.Error()
		}
		if err != tt.err || err == "" && res.Text() != tt.text {
			t.Errorf("%s: %s, %s", tt.code, res.Text(), err)
		}
	}
}
