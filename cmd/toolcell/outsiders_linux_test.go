package main

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An outsider is an attack: steps that run in one context, one after the other.
// It prints REACHED where it got to what it must not, and the last step's answer
// has what it wants.
type outsider struct {
	name, language string
	steps          []string
	wants          string
	walled         bool // what none mode does not claim to hold
	embedded       bool // for the embedded engines only
	process        bool // for processes only
}

// systemCalls puts the numbers that this processor has in place of names.
var systemCalls = strings.NewReplacer(
	"@CLONE@", strconv.Itoa(unix.SYS_CLONE), "@CLONE3@", strconv.Itoa(unix.SYS_CLONE3),
	"@PIDFD_OPEN@", strconv.Itoa(unix.SYS_PIDFD_OPEN), "@PIDFD_SEND_SIGNAL@", strconv.Itoa(unix.SYS_PIDFD_SEND_SIGNAL),
	"@RT_SIGQUEUEINFO@", strconv.Itoa(unix.SYS_RT_SIGQUEUEINFO), "@RT_TGSIGQUEUEINFO@", strconv.Itoa(unix.SYS_RT_TGSIGQUEUEINFO),
	"@SCHED_SETAFFINITY@", strconv.Itoa(unix.SYS_SCHED_SETAFFINITY), "@SCHED_SETPARAM@", strconv.Itoa(unix.SYS_SCHED_SETPARAM),
	"@TGKILL@", strconv.Itoa(unix.SYS_TGKILL), "@TKILL@", strconv.Itoa(unix.SYS_TKILL), "@TIMER_CREATE@", strconv.Itoa(unix.SYS_TIMER_CREATE),
)

// pyFrames writes frames of the driver's own, as the program sees fit.
const pyFrames = `
import os, time
def frame(kind, *fields):
    body = kind + b''.join(b'%08x%s' % (len(f), f) for f in fields)
    return b'%08x' % len(body) + body
def send(b):
    b = memoryview(b)
    while b: b = b[os.write(3, b):]
run = display.__globals__['state'].seq.encode()
def done(): send(frame(b'Z', run, b'ok', b'0', b'', b'', b'0', b'', b''))
`

// pyTasks knows threads of the host, and those that may be near its own parent.
const pyTasks = `
import ctypes, fcntl, os, signal, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
tasks = [t for t in @TASKS@ + list(range(max(os.getppid(), 2), os.getppid() + 100)) if t != os.getpid()]
`

var outsiders = []outsider{
	// Signals to the host's threads.
	{name: "kill of threads", language: "python", walled: true, steps: []string{pyTasks + `
for sig in 0, signal.SIGSTOP, signal.SIGKILL:
    for t in tasks:
        try: os.kill(t, sig)
        except OSError: continue
        if t in @TASKS@: print('REACHED', t)`}},
	{name: "tgkill and queued signals", language: "python", walled: true, steps: []string{pyTasks + `
info = ctypes.create_string_buffer(struct.pack('iii', 9, 0, -1), 128)
for t in tasks:
    for group in {t, tasks[0]}:
        for r in libc.syscall(@TGKILL@, group, t, 9), libc.syscall(@TKILL@, t, 9), libc.syscall(@RT_SIGQUEUEINFO@, t, 9, info), libc.syscall(@RT_TGSIGQUEUEINFO@, group, t, 9, info):
            if r == 0 and t in @TASKS@: print('REACHED', t)`}},
	{name: "pidfds of threads", language: "python", walled: true, steps: []string{pyTasks + `
for t in tasks:
    for flags in 0, os.O_EXCL:
        fd = libc.syscall(@PIDFD_OPEN@, t, flags)
        if fd < 0: continue
        for how in 0, 1, 2, 4:
            if libc.syscall(@PIDFD_SEND_SIGNAL@, fd, 9, None, how) == 0 and t in @TASKS@: print('REACHED', t)`}},
	{name: "signals of files that another owns", language: "python", walled: true, steps: []string{pyTasks + `
import time
for t in tasks:
    for kind in 0, 1, 2:
        a, b = socket.socketpair()
        try:
            fcntl.fcntl(a, 15, struct.pack('ii', kind, t))
            fcntl.fcntl(a, 10, 9)
            fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
            b.send(b'x')
        except OSError: pass
time.sleep(0.1)`}},
	{name: "timers and futexes of threads", language: "python", walled: true, steps: []string{pyTasks + `
for t in tasks:
    ev = ctypes.create_string_buffer(struct.pack('qiii', 0, 9, 4, t), 64)
    tid = ctypes.c_int()
    if libc.syscall(@TIMER_CREATE@, 1, ev, ctypes.byref(tid)) == 0: print('REACHED', t)
    libc.syscall(@SCHED_SETPARAM@, t, ctypes.byref(ctypes.c_int()))
    libc.syscall(@SCHED_SETAFFINITY@, t, 8, ctypes.byref(ctypes.c_long(1)))`}},
	{name: "kill of threads in node", language: "javascript", walled: true, process: true, steps: []string{`
for (const sig of ["SIGSTOP", "SIGKILL"]) for (const t of @TASKS@) { try { process.kill(t, sig); console.log("REACHED", t) } catch {} }`}},
	{name: "kill of threads in bash", language: "bash", walled: true, steps: []string{`
tasks=@TASKS@; tasks=${tasks//[^0-9]/ }
for sig in STOP KILL; do for t in $tasks; do kill -s $sig $t 2>/dev/null && echo REACHED $t; done; done; true`}},

	// Outcomes of runs that never ran.
	{name: "siblings", language: "python", steps: []string{`
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
class Args(ctypes.Structure): _fields_ = [(n, ctypes.c_uint64) for n in 'flags pidfd child parent signal stack size tls tids n cgroup'.split()]
end, n = time.time() + 1, 0
while time.time() < end:
    a = Args(flags=0x8000, signal=17)
    r = libc.syscall(@CLONE@, 0x8000 | 17, 0, 0, 0, 0) if n % 2 else libc.syscall(@CLONE3@, ctypes.byref(a), 88)
    if r == 0: os._exit(0)
    n += 1`, `print('hon' + 'est')`}, wants: "honest"},
	{name: "orphans that end", language: "python", steps: []string{`
import os, time
end = time.time() + 1
while time.time() < end:
    try: pid = os.fork()
    except OSError: time.sleep(0.01); continue
    if pid == 0:
        for _ in range(8):
            try:
                if os.fork() == 0: os.setsid(); os._exit(0)
            except OSError: break
        os._exit(7)
    os.waitpid(pid, 0)`, `print('hon' + 'est')`}, wants: "honest"},
	{name: "forged reports of children", language: "python", steps: []string{pyFrames + `
for pid in range(2, 3000):
    send(frame(b'W', b'%d' % pid, b'0'))
send(frame(b'P', b'1', b'1')); time.sleep(0.2)`, `print('hon' + 'est')`}},

	// Drivers that hold up the host.
	{name: "answers that nobody reads", language: "python", steps: []string{pyFrames + `
done()
while True: send(frame(b'D', run, b'7', b'display', b'', b'', b'', b'text/plain', b'x'))`, `1`}},
	{name: "an end, and a driver that is stopped", language: "python", steps: []string{pyFrames + `
import signal
done(); os.kill(os.getpid(), signal.SIGSTOP)`, strings.Repeat("#", 2<<20)}},
	{name: "half a frame", language: "python", steps: []string{pyFrames + `
os.write(3, b'00ffffffD'); done(); time.sleep(60)`, `1`}},
	{name: "half a length", language: "python", steps: []string{pyFrames + `
done(); os.write(3, b'0000'); time.sleep(60)`, `1`, `1`}},
	{name: "children that write frames", language: "python", steps: []string{pyFrames + `
for _ in range(8):
    if os.fork() == 0:
        while True: send(frame(b'L', b'stdout', b'y' * 5000)); os.write(3, b'000')
done()`, `1`, `1`}},
	{name: "hello again", language: "python", steps: []string{pyFrames + `
for _ in range(100000): send(frame(b'X') + frame(b'H', b'9'))`, `1`}},
	{name: "a closed channel", language: "python", steps: []string{`import os, time
for fd in range(3, 64):
    try: os.close(fd)
    except OSError: pass
time.sleep(60)`, `1`}},
	{name: "bash that floods its channel", language: "bash", steps: []string{`
__toolcell_send Z "$__toolcell_run" ok 0 '' '' 0 '' ''
(trap '' TERM INT HUP; while :; do printf 00000fffD >&230; done) & (while :; do __toolcell_send D "$__toolcell_run" 7 display '' '' '' text/plain x; done)`, `echo 1`}},
	{name: "node that floods its channel", language: "javascript", process: true, steps: []string{`
const fs = require("fs");
for (;;) for (let fd = 3; fd < 40; fd++) try { fs.writeSync(fd, "00fffff0D0000000011") } catch {}`, `1`}},

	// What the host would have to hold.
	{name: "large ids", language: "python", steps: []string{`
for i in range(40):
    try: display("x", display_id=chr(65+i) + "x" * 40_000_000)
    except ValueError: pass`}},
	{name: "a frame of many nothings", language: "python", steps: []string{pyFrames + `
for _ in range(4): send(frame(b'D', run, b'1', b'display', b'', b'', b'', *[b''] * 3_000_000))`}},
	{name: "many small displays", language: "python", steps: []string{`
for i in range(10 ** 6): display({'text/plain': '', 'a/b': b''}, metadata={}, raw=True, display_id=str(i))`}},
	{name: "late frames", language: "python", steps: []string{pyFrames + `
import threading
def bg():
    time.sleep(0.2)
    for i in range(40): send(frame(b'D', run, b'7', b'display', b'i' * 50_000_000, b'', b'', b'text/plain', b''))
threading.Thread(target=bg, daemon=True).start()`, `import time; time.sleep(1)`, `1`}},
	{name: "late prints", language: "python", steps: []string{`
import threading, time
def bg():
    time.sleep(0.2)
    while True: print('y' * 70_000_000)
threading.Thread(target=bg, daemon=True).start(); kept = 42`, `import time; time.sleep(1)`, `kept`}},
	{name: "large errors", language: "python", steps: []string{`
class Loud(Exception):
    def __str__(self): return 'a\n' * 20_000_000
Loud.__name__ = 'L' * 10_000_000
e = Loud()
for i in range(2000):
    n = Loud(); n.__cause__ = e; e = n
kept = 42
raise ExceptionGroup('g' * 9_000_000, [e, ValueError('x' * 40_000_000)])`, `kept`}},
	{name: "large exits", language: "python", steps: []string{`import sys; sys.exit('x' * 60_000_000)`, `import sys; sys.exit(10 ** 5000)`, `1`}},
	{name: "deep metadata", language: "python", steps: []string{pyFrames + `
deep = b'{"a":' * 400000 + b'1' + b'}' * 400000
for where in ((deep, b''), (b'', deep), (b'[' * 2000000, b''), (b'', b'[' * 2000000)):
    send(frame(b'D', run, b'1', b'display', b'', *where, b'text/plain', b'x'))
send(frame(b'D', run, b'1', b'display', b'', b'', b'', b'application/json', b'[' * 2000000))`}},
	{name: "deep values", language: "python", steps: []string{`
v = 1
for _ in range(100000): v = [v]
display({'application/json': v}, raw=True)
v`, `1`}},
	{name: "deep values of JavaScript", language: "javascript", steps: []string{`
let v = 1; for (let i = 0; i < 5e5; i++) v = { v }; display("application/json", v); v`, `let w = []; for (let i = 0; i < 5e5; i++) w = [w]; w`,
		`const e = new Error("a\n".repeat(5e6)); e.name = "N".repeat(1e6); e.stack = "at x\n".repeat(3e6); let c = e; for (let i = 0; i < 1e4; i++) c = new Error("c", { cause: c }); throw c`, `"kept".at(0)`}},

	// Directories.
	{name: "deep directories that nobody may list", language: "python", steps: []string{`
import os, time
t = time.time()
for i in range(6000):
    if time.time() > t + 1: break
    try: os.mkdir('d', 0o300); os.symlink('/', 'l'); open(b'\xff\xfe', 'w').close(); os.chdir('d')
    except OSError: break`}},
	{name: "wide and deep directories", language: "bash", steps: []string{`
for i in {1..40}; do p=$p/aaaaaaaaaaaaaaaaaaaa; done
for i in {1..50}; do mkdir -p ./$i$p && cd ./$i$p || break; done; chmod 0 . ..; true`}},
	{name: "a directory that goes away", language: "bash", steps: []string{`d=$PWD; cd /; rm -rf "$d"; ln -s / "$d"; mkdir "$d"; touch "$d/x"`, `pwd; cd; echo ho"nes"t`}},

	// Innocent threads and children.
	{name: "threads that display", language: "python", steps: []string{`
import threading, time
def progress(n):
    display('0%', display_id='p%d' % n)
    for i in range(30):
        time.sleep(0.02); update_display('%d%%' % i, display_id='p%d' % n); display(i); print(i)
for n in range(8): threading.Thread(target=progress, args=(n,)).start()
kept = 40`, `kept += 1`, `kept += 1`, `import time; time.sleep(0.7); kept`}, wants: "\n42"},
	{name: "children that display", language: "python", steps: []string{`
import os, threading
pids, kept = [], 42
threading.Thread(target=lambda: [display(i) for i in range(50)]).start()
for i in range(4):
    pid = os.fork()
    if pid == 0:
        for k in range(20): display('child %d %d' % (i, k)); print(k)
        os._exit(0)
    pids.append(pid)
for p in pids: os.waitpid(p, 0)`, `kept`}, wants: "\n42"},

	// Memory, files and processes beyond their limits.
	{name: "page tables", language: "python", walled: true, steps: []string{`
import ctypes
libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
buf = ctypes.create_string_buffer(1)
for n in range(40):
    p = libc.mmap(None, 1 << 36, 1, 0x22 | 0x4000, -1, 0)
    libc.madvise(p, 1 << 36, 15)
    for off in range(0, 1 << 36, 2 << 20): ctypes.memmove(buf, p + off, 1)`}},
	{name: "descriptors of many processes", language: "python", walled: true, steps: []string{`
import os, time
for i in range(60):
    if os.fork() == 0:
        try:
            while True: os.open('/dev/null', 0)
        except OSError: pass
        time.sleep(30); os._exit(0)
time.sleep(30)`}},
	{name: "processes that flee", language: "bash", walled: true, steps: []string{`f() { trap '' TERM INT HUP; setsid bash -c 'sleep 30' & f & f & wait; }; f 2>/dev/null`}},
	{name: "files without a name", language: "python", walled: true, steps: []string{`
import os, socket, ctypes
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
a, z = socket.socketpair()
b = b'x' * (1 << 20)
for i in range(30):
    fd = os.memfd_create('x')
    for j in range(20): os.write(fd, b)
    try: socket.send_fds(a, [b'x'], [fd]); os.close(fd)
    except OSError: pass`}},

	// Memory of the engine, taken away while the host works on it.
	{name: "filling with chance", language: "javascript", embedded: true, steps: revoked(`c.randomFillSync(big)`, `c.randomBytes(3e7)`, `crypto.getRandomValues(big.subarray(0, 65536)); c.randomUUID()`)},
	{name: "copies and comparisons", language: "javascript", embedded: true, steps: revoked(`Buffer.from(big)`, `Buffer.compare(big, twin)`, `Buffer.concat([big, twin]).indexOf("no")`, `big.fill("abc"); twin.copyWithin(1, 0)`, `structuredClone(big)`)},
	{name: "texts of bytes", language: "javascript", embedded: true, steps: revoked(`new TextDecoder().decode(big)`, `new TextEncoder().encode("é".repeat(4e6))`, `Buffer.from(big).toString("base64")`, `Buffer.from("00".repeat(4e6), "hex")`, `btoa("x".repeat(4e6))`, `Buffer.from(big).toString("latin1").normalize("NFD").localeCompare("x")`)},
	{name: "digests of much", language: "javascript", embedded: true, steps: revoked(`c.createHash("sha512").update(big).digest()`, `c.createHmac("md5", big).update(twin).digest("base64")`, `c.timingSafeEqual(big, twin)`, `await crypto.subtle.digest("SHA-1", big)`)},
	{name: "files of much", language: "javascript", embedded: true, steps: revoked(`fs.writeFileSync("f", big); fs.readFileSync("f")`, `fs.appendFileSync("g", big); fs.rmSync("g")`, `fs.copyFileSync("f", "h"); fs.truncateSync("h", 1)`)},
	{name: "output of much", language: "javascript", embedded: true, steps: revoked(`console.log("x".repeat(4e6))`, `display("application/octet-stream", big)`, `console.log(big, new Map([[big, twin]]))`, `process.stdout.write(big)`)},
	{name: "clocks, numbers and dates", language: "javascript", embedded: true, steps: revoked(`performance.now(); Date.now(); process.hrtime.bigint()`, `new Date().toLocaleString("en-US")`, `(2n ** 90000n).toString()`, `Atomics.add(new Int32Array(new SharedArrayBuffer(4096)), 0, 1)`, `JSON.parse(JSON.stringify(Array(1e5).fill({ a: 1 })))`)},
	{name: "readers that change what is read", language: "javascript", embedded: true, wants: "own", steps: []string{`
const c = require("crypto"), fs = require("fs"), seen = [];
const nines = (b) => b.every((x) => x === 9), size = 1e5;
for (const use of [
	(v) => c.createHmac("sha256", v).update(v).digest(), (v) => c.createHash("md5").update(v).digest(), (v) => Buffer.concat([v, v]),
	(v) => Buffer.from(v), (v) => Buffer.compare(Buffer.from([1]), v), (v) => new TextDecoder().decode(v), (v) => fs.writeFileSync("f", v),
	(v) => c.timingSafeEqual(v, v), (v) => c.randomFillSync(v), (v) => process.stdout.write(v), (v) => display("application/octet-stream", v),
	(v) => structuredClone(v, { transfer: [v.buffer] }), (v) => new Uint8Array(v), (v) => Buffer.alloc(9).fill(v), (v) => c.pbkdf2Sync(v, v, 1, 8, "sha1"),
]) for (const make of [() => new Uint8Array(size).fill(7), () => new DataView(new ArrayBuffer(size)), () => Buffer.alloc(size, 7)]) {
	const view = make(), buffer = view.buffer, others = [];
	const gone = () => { try { buffer.transfer(0) } catch {} for (let i = 0; i < 2; i++) others.push(new Uint8Array(size).fill(9)); };
	for (const k of ["buffer", "byteOffset", "byteLength", "length", Symbol.toPrimitive, Symbol.iterator, "constructor", "toString", "valueOf"])
		try { Object.defineProperty(view, k, { get() { gone(); return k === "byteLength" || k === "length" ? size : k === "buffer" ? buffer : 0; } }) } catch {}
	try { const r = use(view); if (r?.length === size && nines(r)) seen.push("REACHED " + use); } catch {}
}
console.log(seen.join("\n") || "own")`}},
	{name: "jobs that stay", language: "javascript", embedded: true, steps: []string{
		`for (;;) queueMicrotask(() => { globalThis.n = (globalThis.n || 0) + 1 })`, `setTimeout(() => console.log("REACHED")); (function f() { queueMicrotask(f) })(); process.exit(0)`,
		`process.on("exit", () => { for (;;) Promise.resolve().then(() => console.log("REACHED")) }); process.exit(0)`, `await 1; "kept".at(0)`}},

	// TypeScript that is hard to translate.
	{name: "TypeScript in depth", language: "typescript", steps: []string{
		strings.Repeat("a()?.[", 300000), strings.Repeat("<T extends (x:", 200000), "type A=" + strings.Repeat("B extends C?`${infer D extends ", 150000),
		strings.Repeat("@f(class{", 200000), strings.Repeat("async<T>(x=", 200000), "x=" + strings.Repeat("y satisfies Z<", 300000), `1 as number`}},
	{name: "TypeScript in length", language: "typescript", steps: []string{
		strings.Repeat("let a1: number = 1; a1++;", 150000), "enum E{" + strings.Repeat("A=B.length|1<<2,B='x',", 150000) + "}",
		"abstract class A{" + strings.Repeat("abstract f<T>(x:T):void;declare g?:T;", 80000) + "}", strings.Repeat("import a=b.c.d;export import e=a.b;", 80000),
		"class A{constructor(" + strings.Repeat("private readonly x:any=<any>1,", 100000) + "){}}", strings.Repeat("a<b>/c>/d;`${", 200000), `1 as number`}},
}

// revoked has each of the expressions evaluated until its time is over.
func revoked(expressions ...string) []string {
	steps := make([]string, len(expressions))
	for i, e := range expressions {
		steps[i] = `const c = require("crypto"), fs = require("fs"), big = new Uint8Array(8e6), twin = new Uint8Array(8e6);
for (;;) { ` + e + ` }`
	}
	return steps
}
