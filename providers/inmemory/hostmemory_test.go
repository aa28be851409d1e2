//go:build full

package inmemory_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// hostCopies are programs that have the host make something of large values: what
// it takes for that in all, other than at once, is a few times what the engine may.
var hostCopies = []struct{ name, code string }{
	{"value that is quoted", `"\x01".repeat(12e6)`},
	{"value of surrogates", `"\ud800".repeat(3e6)`},
	{"value that is inspected", `[..."x".repeat(100)].map(() => "\n".repeat(1e4))`},
	{"display of a string as JSON", `display("application/json", "\x01".repeat(12e6))`},
	{"display of JSON", `display("application/json", "[" + "1,".repeat(5e6) + "1]")`},
	{"display of bytes", `display("image/png", new Uint8Array(12e6))`},
	{"display of base64", `display("image/png", "A".repeat(6e6))`},
	{"id of a display", `display("text/plain", "x", { id: "x".repeat(12e6) })`},
	{"update of a display", `updateDisplay("x".repeat(12e6), "text/plain", "x")`},
	{"MIME type", `display("text/" + "x".repeat(12e6), "x")`},
	{"bundle of many", `const o = {}; for (let i = 0; i < 100000; i++) o["a" + i] = 1; display(o)`},
	{"import of JSON", `require("fs").writeFileSync("/a.json", '"' + "\x01".repeat(2e6) + '"'); await import("/a.json")`},
	{"import of bytes", `require("fs").writeFileSync("/a.cjs", "module.exports = new Uint8Array(1e6)"); Object.keys(await import("/a.cjs")).length`},
	{"import of a string object", `require("fs").writeFileSync("/a.cjs", "module.exports = new String('x'.repeat(1e6))"); Object.keys(await import("/a.cjs")).length`},
	{"import of a long name", `await import("./" + "a/../".repeat(2e6))`},
	{"decode", `new TextDecoder().decode(new Uint8Array(12e6).fill(255))`},
	{"decode of a buffer", `Buffer.alloc(5e6, 255).toString().length`},
	{"encode", `new TextEncoder().encode("é".repeat(2e6)).length`},
	{"atob", `atob(" ".repeat(2e6) + "/".repeat(2e6)).length`},
	{"btoa", `btoa("\u00ff".repeat(2e6)).length`},
	{"fault of JSON", `JSON.parse('["' + "x".repeat(3e6))`},
	{"fault of long JSON", `JSON.parse("[" + "1,".repeat(2e5) + "}")`},
	{"gzip", `require("zlib").gzipSync(Buffer.alloc(5e6)).length`},
	{"gunzip of much", `const z = require("zlib"); z.gunzipSync(Buffer.concat(Array(20).fill(z.gzipSync(Buffer.alloc(1e6))))).length`},
	{"crc32", `require("zlib").crc32?.(Buffer.alloc(12e6))`},
	{"key of an HMAC", `require("crypto").createHmac("md5", Buffer.alloc(12e6)); 0`},
	{"name of a hash", `require("crypto").createHash("x".repeat(12e6))`},
	{"time zone", `new Date().toLocaleString("en", { timeZone: "x".repeat(3e6) })`},
	{"path", `require("fs").writeFileSync("a/../".repeat(2e6) + "x", "x")`},
	{"rename", `require("fs").writeFileSync("a", ""); require("fs").renameSync("a", "x".repeat(12e6))`},
	{"files", `const fs = require("fs"); fs.writeFileSync("a", "x".repeat(5e6)); fs.appendFileSync("a", Buffer.alloc(2e6)); fs.readFileSync("a").length`},
	{"console.count", `console.count("x".repeat(12e6))`},
	{"console.trace", `console.trace("x".repeat(3e6))`},
	{"stderr", `process.stderr.write("x".repeat(12e6))`},
	{"message of an error", `throw new Error("x".repeat(12e6))`},
	{"stack of an error", `const e = new Error("x"); e.stack = "    at a (b:1:1)\n".repeat(5e5); throw e`},
	{"name of an error", `const e = new Error("x"); e.name = "x".repeat(12e6); throw e`},
	{"cause of an error", `throw new Error("x", { cause: new Error("x".repeat(12e6)) })`},
	{"missing module", `const e = new Error("x"); e.code = "MODULE_NOT_FOUND"; e.specifier = "x".repeat(12e6); e.stack = ""; throw e`},
	{"what is no error", `throw "x".repeat(12e6)`},
	{"inspect of an error", `const e = new Error("x"); e.stack = "Error: x\n" + "    at a (b:1:1)\n".repeat(1e5); require("util").inspect(e).length`},
	{"source of a module", `require("fs").writeFileSync("/a.js", "//" + "x".repeat(3e6)); require("/a.js"); await import("/a.js"); 0`},
}

func TestHostCopies(t *testing.T) {
	if race.Enabled && !race.Full() {
		t.Skip("the race detector takes memory of its own: make test runs it without")
	}
	const limit = 16 << 20
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: limit}})
	warm := create(t, s, "javascript")
	run(t, s, warm, `require("fs"), console.log([1]), Intl, new URL("a:b")`, nil)
	for _, c := range hostCopies {
		t.Run(c.name, func(t *testing.T) {
			id := create(t, s, "javascript")
			before := allocated()
			res := run(t, s, id, c.code, nil)
			n := allocated() - before
			t.Logf("%d MiB: %v %.60q %.100v", n>>20, res.Status, res.Text(), res.Error)
			if n > 3*limit && !race.Enabled {
				t.Errorf("the host took %d MiB", n>>20)
			}
			if res.StateLost && res.Cause != codeinterp.CauseMemory {
				t.Errorf("the state is lost: %v", res.Error)
			}
			if res := run(t, s, id, "1 + 1", nil); res.Text() != "2" {
				t.Errorf("afterwards: got %v %q", res.Status, res.Text())
			}
			if err := s.DeleteContext(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
}

// allocated returns how many bytes of Go's heap were taken in all.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestKept has contexts whose programs have the host keep what it may: that takes
// memory of the context's own.
func TestKept(t *testing.T) {
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: 16 << 20}})
	for _, c := range []struct{ name, code string }{
		{"labels", `for (let i = 0; i < 10001; i++) { const l = String(i).padEnd(1024, "x"); console.count(l); console.time(l) }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []codeinterp.ContextID
			before := heapInUse()
			for range 8 {
				id := create(t, s, "javascript")
				all = append(all, id)
				run(t, s, id, c.code, &codeinterp.RunOptions{MaxOutput: 1})
			}
			if n := (heapInUse() - before) / int64(len(all)); n > 512<<10 {
				t.Errorf("%d KiB are kept for each context", n>>10)
			}
			for _, id := range all {
				if err := s.DeleteContext(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestManyAtOnce has programs leave much to do: what it takes to find the next of it
// does not grow with what there is, or they would not be done by far.
func TestManyAtOnce(t *testing.T) {
	s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: 256 << 20}})
	for _, c := range []struct{ name, code, want string }{
		{"rejections", `let n = 0; process.on("unhandledRejection", () => n++); for (let i = 0; i < 100000; i++) Promise.reject(1); process.on("exit", () => console.log(n))`, "100000\n"},
		{"rejections that are handled", `let n = 0; for (let i = 0; i < 100000; i++) Promise.reject(1).catch(() => n++); process.on("exit", () => console.log(n))`, "100000\n"},
		{"timers beside", `for (let i = 0; i < 90000; i++) setTimeout(() => {}, 1e6).unref(); let n = 0; const f = () => { if (++n < 100000) setImmediate(f); else console.log(n) }; f()`, "100000\n"},
		{"rejections in order", `const all = []; process.on("unhandledRejection", (e) => all.push(e)); Promise.reject(1); const p = Promise.reject(2); Promise.reject(3); p.catch(() => {}); Promise.reject(4); setTimeout(() => console.log(all.join()), 1)`, "1,3,4\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := cpuTime(t) // what the machine spends on others does not count
			res, err := s.RunCode(t.Context(), "javascript", c.code, &codeinterp.RunOptions{Timeout: 3 * time.Minute})
			if took := cpuTime(t) - before; err != nil || res.Stdout() != c.want || took > 20*time.Second {
				t.Errorf("got %v %q %v %v, after %v of computing", res.Status, res.Stdout(), res.Error, err, took)
			}
		})
	}
}

// emptyBlocks are 48 MB that unpack to nothing, in some seconds.
const emptyBlocks = `
const bits = [], put = (v, n) => { for (let i = 0; i < n; i++) bits.push(v >> i & 1) };
for (let i = 0; i < 8; i++) {
	put(0, 1); put(2, 2); put(0, 5); put(0, 5); put(14, 4);
	for (const s of [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]) put(s === 18 || s === 1 ? 1 : 0, 3);
	put(1, 1); put(127, 7); put(1, 1); put(107, 7); put(0, 3);
}
const blocks = new Uint8Array(48e6 / bits.length * bits.length);
bits.forEach((b, i) => blocks[i >> 3] |= b << (i & 7));
for (let n = bits.length / 8; n < blocks.length; n *= 2) blocks.copyWithin(n, 0, n);
console.log("packed");
require("zlib").inflateRawSync(blocks);
`

// TestUnpackingNothing is stopped while it unpacks what ends in seconds at best, and
// gives nothing until then. What the machine spends on others does not count.
func TestUnpackingNothing(t *testing.T) {
	s := open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stopped atomic.Int64
	res, err := s.RunInContext(ctx, create(t, s, "javascript"), emptyBlocks, &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
		time.AfterFunc(50*time.Millisecond, func() {
			stopped.Store(int64(cpuTime(t)))
			cancel()
		})
		return nil
	}})
	if late := cpuTime(t) - time.Duration(stopped.Load()); res.Status == codeinterp.StatusOK || late > time.Second {
		t.Errorf("got %v %v, after %v of computing", res.Status, err, late)
	}
}

// TestUnpackedWithoutMemory: what the program may have and others have taken is not
// called too large.
func TestUnpackedWithoutMemory(t *testing.T) {
	const code = `const z = require("zlib"); z.gunzipSync(Buffer.concat(Array(20).fill(z.gzipSync(Buffer.alloc(1e6))))).length`
	for _, tt := range []struct {
		each, all int64
		want      string
	}{
		{64 << 20, 16 << 20, "out of memory: what all contexts together may take is used up"},
		{16 << 20, 1 << 30, "the data would be larger than half of the memory limit"},
	} {
		s := open(t, &inmemory.Options{Limits: engine.Limits{Memory: tt.each}, MaxMemory: tt.all})
		res, err := s.RunCode(t.Context(), "javascript", code, nil)
		if err != nil || res.Error == nil || !strings.HasPrefix(res.Error.Message, tt.want) {
			t.Errorf("%d: %v %v %+v", tt.all, err, res.Status, res.Error)
		}
	}
}

// heapInUse returns the bytes of Go's heap that something refers to.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
