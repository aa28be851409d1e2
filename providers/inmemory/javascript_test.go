package inmemory_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// Programs of one context, in a row, and the text of their values; an error's
// text begins with a bang.
var sessions = map[string][][2]string{
	"redeclaration": {
		{"const x = 1", ""}, {"const x = 2; x", "2"}, {"let x = 3; x", "3"}, {"var x = 4; x", "4"}, {"class x {}", ""}, {"typeof x", "function"},
		{"function x() { return 5 }; x()", "5"}, {"const { x, y = 7 } = { x: 6 }; x + y", "13"}, {"let [x] = [8]; x", "8"}, {"x", "8"},
	},
	"variables of all kinds": {
		{"var a = 1", ""}, {"let a = 2; a", "2"}, {"function f() { return a }", ""}, {"const a = 3; f()", "3"}, {"var a = 4; f()", "4"}, {"a = 5; f()", "5"},
	},
	"earlier functions see new values": {
		{"const n = 1; const get = () => n", ""}, {"get()", "1"}, {"const n = 2", ""}, {"get()", "2"}, {"class C { m() { return 1 } }; const o = new C()", ""},
		{"class C { m() { return 2 } }", ""}, {"[o.m(), new C().m()]", "[ 1, 2 ]"},
	},
	"constants are constant within a program": {
		{"const c = 1", ""}, {"const c = 2; c = 3", "!TypeError: 'c' is read-only"}, {"c", "2"}, {"let c = 1; c = 9; c", "9"},
	},
	"a program that fails before it sets a variable": {
		{"const v = 1", ""}, {"throw new Error('x'); const v = 2", "!Error: x"}, {"v", "1"}, {"let v = (() => { throw 1 })()", "!Uncaught: 1"}, {"v", "1"},
		{"w; let w = 1", "!ReferenceError: w is not initialized"}, {"let w = 2; w", "2"},
	},
	"a program that fails before its let of an earlier variable": {
		{"var b = 1; function f() { return b }", ""}, {"throw 1; let b = 7", "!Uncaught: 1"}, {"b", "1"}, {"b = 2", "2"}, {"f()", "2"}, {"(() => { b += 1; return [b, f()] })()", "[ 3, 3 ]"},
		{"throw 2; const f = 1, Math = 2", "!Uncaught: 2"}, {"f = () => 4; f()", "4"}, {"Math.abs(-1)", "1"},
		{"throw 3; class b {}", "!Uncaught: 3"}, {"var b = 8; b", "8"}, {"await null; throw 4; let b", "!Uncaught: 4"}, {"b = 9; b", "9"}, {"let b = 10; b", "10"}, {"b = 11; b", "11"},
	},
	"await": {
		{"const p = await Promise.resolve(5)", ""}, {"p", "5"}, {"await new Promise((r) => setTimeout(r, 1, 'late'))", "late"},
		{"for await (const x of [Promise.resolve(1)]) { var last = x }", ""}, {"last", "1"}, {"async function g() { return await 7 } g()", "7"},
		{"Promise.resolve()", ""}, {"new Promise((r) => setTimeout(r, 5, [1]))", "[ 1 ]"}, {"({ p: Promise.resolve(5) })", "{ p: Promise { 5 } }"},
		{"var failing = Promise.reject(new TypeError('x')); failing.catch(() => {}); failing", "!TypeError: x"},
		{"new Promise((r) => setTimeout(r, 5, 6).unref())", "6"},
		{"await g()", "7"}, {"let p = await 6; p", "6"}, {"'await'", "await"},
	},
	"values": {
		{"1; 2", "2"}, {"undefined", ""}, {"{ a: 1 }", "{ a: 1 }"}, {"{ a: 1 };", "1"}, {"{ let q = 3; q }", "3"}, {"{}", "{}"}, {"'text'", "text"}, {"['text']", "[ 'text' ]"},
		{"if (true) { 4 }", "4"}, {"", ""}, {"// nothing", ""}, {"null", "null"}, {"\"\"", ""}, {"5 // five", "5"}, {"-0", "-0"}, {"123456789012345680000", "123456789012345680000"},
	},
	"modules": {
		{"import fs, { writeFileSync as write } from 'node:fs'; write('m.mjs', 'export const one = 1; export default 2')", ""}, {"fs.existsSync('m.mjs')", "true"},
		{"import two, * as all from './m.mjs'; [two, all.one]", "[ 2, 1 ]"}, {"fs.writeFileSync('c.js', 'exports.three = 3; exports.dir = __dirname')", ""},
		{"const { three, dir } = require('./c.js'); [three, dir]", "[ 3, '/' ]"}, {"(await import('./m.mjs')).one", "1"}, {"fs.writeFileSync('d.json', '{\"k\": [1]}')", ""},
		{"import d from './d.json' with { type: 'json' }\nd.k", "[ 1 ]"}, {"require('./d').k", "[ 1 ]"}, {"require('./none')", "!Error: Cannot find module './none'"},
		{"import x from 'left-pad'", "!Error: Cannot find package 'left-pad'"}, {"export const e = 5; e", "5"}, {"export default function ff() { return 6 }\nff()", "6"},
		{"import 'fs'; export { e as f }; e", "5"},
	},
	"exits": {
		{"var kept = 1; process.exit(0); kept = 2", ""}, {"kept", "1"}, {"try { process.exit(0) } finally { kept = 3 }", ""}, {"kept", "1"},
		{"setTimeout(() => process.exit(0), 1); await new Promise(() => {})", ""}, {"process.exitCode = 0; 8", "8"},
		{"process.once('exit', (c) => { kept = 'code ' + c }); process.exitCode = 0; 9", "9"}, {"kept", "1"}, {"process.exit()", ""}, {"kept", "code 0"},
		{"process.once('exit', () => { throw new Error('listener') }); process.exit()", "!Error: listener"}, {"process.listenerCount('exit')", "0"}, {"process.exitCode", ""},
		{"process.exit(false)", `!TypeError: The "code" argument must be of type number. Received type boolean (false)`}, {"process.exitCode = '0'; 1", "1"},
		{"process.exit(1.5)", `!RangeError: The value of "code" is out of range. It must be an integer. Received 1.5`},
		{"process.exitCode = 'x'", `!TypeError: The "code" argument must be of type number. Received type string ('x')`}, {"process.exitCode", ""},
	},
	"nothing is left over": {
		{"setInterval(() => { globalThis.ticks = (globalThis.ticks ?? 0) + 1 }, 1); setTimeout(() => { throw new Error('end') }, 20)", "!Error: end"},
		{"const before = ticks; await new Promise((r) => setTimeout(r, 20)); ticks - before", "0"},
	},
	"tampering": {
		{"JSON.stringify = null; JSON.parse = () => { throw 1 }; Array.prototype.push = () => { throw 2 }; Object.prototype.toJSON = () => 'no'; Object.keys = null; 0", "0"},
		{"String.prototype.replace = null; Array.prototype.join = () => 'x'; Array.prototype[Symbol.iterator] = null; Reflect.ownKeys = null; Map.prototype.forEach = null; 1", "1"},
		{"Object.defineProperty(Array.prototype, '0', { set() { throw 4 }, configurable: true }); Object.defineProperty(Object.prototype, 'a', { set() { throw 3 }, configurable: true }); 2", "2"},
		{"Promise.prototype.then = () => { throw 5 }; Function.prototype.call = null; Error.prototype.toString = null; Symbol.prototype.toString = null; globalThis.console = 1; console", "1"},
		{"({ a: [1, { b: new Map().set(1, 2) }] })", "{ a: [ 1, { b: [Map] } ] }"}, {"({ x: [1, 'y'] })", "{ x: [ 1, 'y' ] }"}, {"await 5", "5"}, {"throw new TypeError('t')", "!TypeError: t"},
		{"globalThis.Error = 1; globalThis.Object = 2; globalThis.Promise = 3; [7]", "[ 7 ]"}, {"null.x", "!TypeError: cannot read property 'x' of null"}, {"delete globalThis.process; typeof process", "undefined"},
	},
}

func TestSessions(t *testing.T) {
	s := open(t, both())
	for name, steps := range sessions {
		for _, language := range s.Languages() {
			t.Run(name+"/"+language, func(t *testing.T) {
				id := create(t, s, language)
				for i, step := range steps {
					res := run(t, s, id, step[0], nil)
					got := res.Text()
					if res.Error != nil {
						got = "!" + res.Error.Error()
					}
					if got != step[1] {
						t.Errorf("%d: %s\n got %q\nwant %q", i+1, step[0], got, step[1])
					}
				}
			})
		}
	}
}

func TestErrors(t *testing.T) {
	s := open(t, both())
	for _, c := range []struct {
		language, code, name, message string
		line, exit                    int
		last                          string // of the traceback
	}{
		{"javascript", "\nfunction f() {\n  null.x\n}\nf()", "TypeError", "cannot read property 'x' of null", 3, 1, "    at program.js:5:2"},
		{"javascript", "const a = [1\nconst b =", "SyntaxError", "expecting ']'", 2, 1, ""},
		{"javascript", "1 +", "SyntaxError", "unexpected end of input", 1, 1, "    at program.js:1:4"},
		{"javascript", "throw new RangeError('r')", "RangeError", "r", 1, 1, "    at program.js:1:21"},
		{"javascript", "1\n2 +* 3", "SyntaxError", "unexpected token in expression: '*'", 2, 1, "    at program.js:2:4"},
		{"javascript", "function Old(m) { this.message = m; this.name = 'Old' }\nOld.prototype = Object.create(Error.prototype)\nthrow new Old('m')", "Old", "m", 0, 1, "Old: m"},
		{"javascript", "function Old(m) { Error.captureStackTrace(this, Old); this.message = m }\nrequire('util').inherits(Old, Error); Old.prototype.name = 'Old'\nthrow new Old('m')", "Old", "m", 3, 1, "Old: m"},
		{"javascript", "class Mine extends Error { get name() { return this.constructor.name } }\nthrow new Mine('m')", "Mine", "m", 2, 1, "Mine: m"},
		{"javascript", "throw Error.prototype", "Uncaught", "{}", 0, 1, "Uncaught {}"},
		{"javascript", "class MyError extends Error { name = 'MyError' }\nthrow new MyError('m')", "MyError", "m", 2, 1, "    at program.js:2:18"},
		{"javascript", "Promise.reject(new Error('unhandled'))", "Error", "unhandled", 1, 1, "    at program.js:1:25"},
		{"javascript", "setTimeout(() => {\n  throw new Error('later') }, 1)", "Error", "later", 2, 1, "    at <anonymous> (program.js:2:18)"},
		{"javascript", "await new Promise(() => {})", "Error", "a top-level await waits for a promise that nothing can settle any more", 0, 13, ""},
		{"javascript", "throw new Error('outer', { cause: new TypeError('inner') })", "Error", "outer", 1, 1, "    at program.js:1:16"},
		{"javascript", "throw Object.defineProperty(new Error('g'), 'name', { get() { for (;;) {} } })", "Error", "g", 1, 1, "    at program.js:1:38"},
		{"typescript", "interface A { x: number }\ntype B = A\n\nfunction f(a: B): void {\n  (null as any).x }\nf({ x: 1 })", "TypeError", "cannot read property 'x' of null", 5, 1, "    at program.ts:6:2"},
		{"typescript", "const a: number = 1\nconst b: string = ;", "SyntaxError", "Unexpected token ';'", 2, 1, "    at program.ts:2:19"},
	} {
		res, err := s.RunCode(t.Context(), c.language, c.code, &codeinterp.RunOptions{Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != codeinterp.StatusError || res.ExitCode != c.exit {
			t.Errorf("%s: got %v %d", c.code, res.Status, res.ExitCode)
		}
		if res.Error == nil {
			if c.message != "" {
				t.Errorf("%s: no error", c.code)
			}
			continue
		}
		e := res.Error
		if e.Name != c.name || e.Message != c.message || e.Line != c.line || c.last != "" && !slices.Contains(e.Traceback, c.last) {
			t.Errorf("%s: got %q %q line %d\n%s", c.code, e.Name, e.Message, e.Line, strings.Join(e.Traceback, "\n"))
		}
	}
}

func TestDisplays(t *testing.T) {
	s := open(t, nil)
	res := run(t, s, create(t, s, "javascript"), `
		display("image/png", new Uint8Array([1, 2]));
		display("image/png", "AQI=");
		display("application/json", { a: 1 });
		display("application/vnd.x+json", "[1]");
		display({ "text/plain": "p", "text/html": "<b>" }, { id: "d", metadata: { w: 1 } });
		updateDisplay("d", "text/plain", "q");
		for (const bad of [["nonsense", "x"], ["image/png", "%%"], ["text/plain", {}], ["application/json", () => 1]]) {
			try { display(...bad); console.log("taken", bad) } catch (e) { if (!(e instanceof TypeError)) throw e }
		}
		console.log("gone"); clearOutput(); console.log("kept")`, nil)
	if !res.OK() || res.Stdout() != "kept\n" || len(res.Displays()) != 0 {
		t.Fatalf("after clearOutput: %v %q %v", res.Error, res.Stdout(), res.Displays())
	}
	var seen []string
	run(t, s, create(t, s, "javascript"), `
		display("image/png", new Uint8Array([1, 2])); display("image/png", "AQI="); display("application/json", { a: 1 });
		display({ "text/plain": "p", "text/html": "<b>" }, { id: "d", metadata: { w: 1 } }); updateDisplay("d", "text/plain", "q"); clearOutput(true)`,
		&codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
			line := o.Kind.String()
			for _, r := range o.Bundle {
				line += " " + r.MIME + "=" + string(r.Data)
			}
			seen = append(seen, line+" "+o.DisplayID+string(o.Metadata))
			return nil
		}})
	want := []string{"display image/png=\x01\x02 ", "display image/png=\x01\x02 ", `display application/json={"a":1} `,
		`display text/html=<b> text/plain=p d{"w":1}`, "display text/plain=q d", "clear "}
	if !slices.Equal(seen, want) {
		t.Errorf("got %q\nwant %q", seen, want)
	}
}

// Whatever a program does to reach out, there is nothing to reach.
func TestNoHost(t *testing.T) {
	s := open(t, nil)
	res := run(t, s, create(t, s, "javascript"), `
		const names = ["fetch", "XMLHttpRequest", "WebSocket", "Deno", "Bun", "std", "os", "scriptArgs", "print", "Worker", "importScripts"];
		const found = names.filter((n) => globalThis[n] !== undefined);
		for (const m of ["child_process", "net", "http", "https", "dgram", "tls", "worker_threads", "vm", "cluster", "inspector", "std", "qjs:os", "bjson"]) {
			try { require(m); found.push(m) } catch (e) { if (e.code !== "MODULE_NOT_FOUND") found.push(m + ": " + e) }
			try { await import(m); found.push(m) } catch {}
		}
		await require("dns/promises").lookup("localhost").then((a) => found.push(a), (e) => { if (e.code !== "EAI_AGAIN") throw e });
		for (const p of ["/etc/passwd", "/proc/self/environ", "../../../etc/hostname", "file:///etc/passwd"]) {
			try { require("fs").readFileSync(p.startsWith("file:") ? new URL(p) : p); found.push(p) } catch (e) { if (e.code !== "ENOENT") found.push(p + ": " + e) }
		}
		const outer = console.log.constructor("return this")();
		if (outer !== globalThis) found.push("another global object");
		for (const f of [console.log, setTimeout, display, require, process.cwd, URL]) if (!(f instanceof Function)) found.push("a function of another realm");
		found.push(...Object.keys(process.env)); found`, nil)
	if res.Text() != "[]" {
		t.Errorf("got %s (%v)", res.Text(), res.Error)
	}
}

// What a run takes is given back, whichever way it ended.
func TestMemoryReturns(t *testing.T) {
	s := open(t, both())
	for range 3 {
		id := create(t, s, "typescript")
		for _, code := range []string{"let a = new Uint8Array(1e7)", "for (;;) {}", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", "throw 1", "console.log({})"} {
			if _, err := s.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Timeout: 50 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.RunCode(t.Context(), "javascript", code, &codeinterp.RunOptions{Timeout: 50 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
		}
		if run(t, s, id, "1", nil); inmemory.MemoryUsed(s) == 0 {
			t.Error("a live context uses no memory")
		}
		if err := s.DeleteContext(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); s.Abandoned() > 0 && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond) // a machine that is very busy
		}
		if n := inmemory.MemoryUsed(s); n != 0 {
			t.Errorf("%d bytes are still accounted for", n)
		}
	}
}

// One budget for all: a context that wants more than there is fails, the
// others live.
func TestBudget(t *testing.T) {
	s := open(t, &inmemory.Options{MaxMemory: 24 << 20})
	hungry, modest := create(t, s, "javascript"), create(t, s, "javascript")
	res := run(t, s, hungry, "globalThis.a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", nil)
	if res.Cause != codeinterp.CauseMemory || res.OK() {
		t.Errorf("got %v %v", res.Status, res.Cause)
	}
	if !strings.Contains(res.Error.Message, "all contexts together") {
		t.Errorf("the program takes itself for the cause: %v", res.Error)
	}
	if res := run(t, s, modest, "[1, 2].concat(3).length", nil); res.Text() != "3" {
		t.Errorf("the other context: %v", res.Error)
	}
	for range 1000 {
		if _, err := s.CreateContext(context.Background(), "javascript", nil); err != nil {
			if !errors.Is(err, codeinterp.ErrCapacity) {
				t.Errorf("got %v, want ErrCapacity", err)
			}
			return
		}
	}
	t.Error("a thousand contexts fit into 24 MiB")
}
