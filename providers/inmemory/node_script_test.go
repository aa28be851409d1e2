//go:build real

package inmemory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// scripts are programs that have to be files of their own under node. Each must
// print what node prints, and end with the same exit code.
var scripts = []struct{ name, file, code string }{
	{"ticks before promises", "a.js", `Promise.resolve().then(() => console.log("promise")); process.nextTick((x) => { console.log("tick", x); process.nextTick(() => console.log("tick in tick")) }, 1);
		queueMicrotask(() => { console.log("micro"); process.nextTick(() => console.log("tick of micro")); Promise.resolve().then(() => console.log("micro of micro")) }); setTimeout(() => console.log("timeout")); console.log("main")`},
	{"ticks of a timer", "a.js", `setTimeout(() => { console.log("a"); process.nextTick(() => console.log("tick")); Promise.resolve().then(() => console.log("then")) }, 1); setTimeout(() => console.log("b"), 30)`},
	{"timer objects", "a.js", `const t = setInterval(() => {}, 5); console.log(typeof t, typeof t.unref, t.unref() === t, t.hasRef(), t.ref().hasRef()); clearInterval(t); const u = setTimeout(() => console.log("no"), 5); clearTimeout(+u); setTimeout(() => console.log("yes"), 5).refresh(); setTimeout(() => {}, 1e6).unref()`},
	{"unhandled rejection handled", "a.js", `process.on("unhandledRejection", (reason, p) => console.log("handled", reason.message, p instanceof Promise)); Promise.reject(new Error("x")); setTimeout(() => console.log("later"), 5)`},
	{"uncaught exception handled", "a.js", `process.on("uncaughtException", (e, origin) => console.log("handled", e.message, origin)); setTimeout(() => { throw new Error("timer") }, 1); setTimeout(() => console.log("later"), 10); throw new Error("main")`},
	{"rejection goes to uncaughtException", "a.js", `process.on("uncaughtException", (e, origin) => console.log("handled", e.message, origin)); Promise.reject(new Error("x")); setTimeout(() => {}, 1)`},
	{"handler that throws", "a.js", `process.on("unhandledRejection", () => { console.log("handler"); process.exit(3) }); Promise.reject(1)`},
	{"tmp", "a.js", `const fs = require("fs"); fs.writeFileSync("/tmp/toolcell-test.txt", "x"); console.log(fs.readFileSync("/tmp/toolcell-test.txt", "utf8"), require("os").tmpdir(), fs.existsSync("/tmp")); fs.rmSync("/tmp/toolcell-test.txt")`},
	{"module scope", "a.js", `console.log(typeof exports, exports === module.exports, typeof __filename, typeof __dirname, require.main === module); exports.x = 1; console.log(module.exports)`},
	{"streams, readline, zlib", "a.js", `const { Readable, Transform, Writable, pipeline, PassThrough } = require("stream"); const zlib = require("zlib"); const readline = require("readline");
(async () => {
  const out = [];
  for await (const c of Readable.from(["a", "b", "c"])) out.push(c);
  console.log(out);
  const up = new Transform({ transform(c, e, cb) { cb(null, c.toString().toUpperCase()) } });
  const sink = []; 
  await require("stream/promises").pipeline(Readable.from(["x", "y"]), up, new Writable({ write(c, e, cb) { sink.push(c.toString()); cb() } }));
  console.log(sink);
  const r = new Readable({ read() {} }); r.push("one"); r.push("two"); r.push(null); r.setEncoding("utf8");
  r.on("data", (d) => console.log("data", d)); r.on("end", () => console.log("end")); r.on("close", () => console.log("close"));
  await new Promise((s) => r.on("close", s));
  console.log(zlib.gunzipSync(zlib.gzipSync("hello ".repeat(1000))).length, zlib.inflateSync(zlib.deflateSync(Buffer.from("abc"))).toString(), zlib.inflateRawSync(zlib.deflateRawSync("q")).toString());
  try { zlib.gunzipSync(Buffer.from("nope")) } catch (e) { console.log(e.code) }
  try { zlib.inflateSync(zlib.deflateSync("x".repeat(100)).subarray(0, 5)) } catch (e) { console.log(e.code, e.message) }
  const w = new Writable({ write(c, e, cb) { setTimeout(cb, 1) } }); w.on("finish", () => console.log("finish")); w.write("a", () => console.log("written")); w.end("b"); await require("stream/promises").finished(w);
  const p = new PassThrough({ objectMode: true }); p.write({ a: 1 }); p.end({ b: 2 }); console.log(await p.toArray());
  const rl = readline.createInterface({ input: process.stdin }); 
  for await (const line of rl) console.log("line:", line);
})();`},
	{"readline questions", "a.js", `const rl = require("readline").createInterface({ input: process.stdin, output: process.stdout }); rl.question("name? ", (n) => { rl.question("age? ", (a) => { console.log(n, a); rl.close() }) }); rl.on("close", () => console.log("closed"))`},
	{"readline lines", "a.js", `const rl = require("node:readline").createInterface({ input: process.stdin, crlfDelay: Infinity }); const l = []; rl.on("line", (x) => l.push(x)); rl.on("close", () => console.log(l))`},
	{"import.meta", "a.mjs", "import path from 'node:path';\nconst f = () => import.meta.url;\nconsole.log(typeof f(), typeof import.meta.resolve, path.basename('/a/b'));"},
}

// TestNodeScripts compares what node runs as files.
func TestNodeScripts(t *testing.T) {
	node := lookNode(t)
	s := open(t, nil)
	for _, tt := range scripts {
		t.Run(tt.name, func(t *testing.T) { compareScript(t, s, node, tt.file, tt.code) })
	}
}

// TestNodeModules does so with the larger programs of testdata/node: each is about a
// module, and what its options do.
func TestNodeModules(t *testing.T) {
	node := lookNode(t)
	s := open(t, nil)
	files, err := filepath.Glob("testdata/node/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			compareScript(t, s, node, "a.js", string(code))
		})
	}
}

// compareScript runs a program in an empty directory under node, and in s.
func compareScript(t *testing.T, s *inmemory.Stateful, node, name, code string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	const input = "l1\nl2\r\nl3"
	cmd := exec.Command(node, file)
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(input)
	want, _ := cmd.Output()
	res, err := s.RunCode(t.Context(), "javascript", code, &codeinterp.RunOptions{Stdin: []byte(input)})
	if err != nil || res.Stdout() != string(want) || res.ExitCode != cmd.ProcessState.ExitCode() {
		t.Errorf("%v, exit %d, want %d, %v\n%s", res.Error, res.ExitCode, cmd.ProcessState.ExitCode(), err, firstDifferent(res.Stdout(), string(want)))
	}
}
