//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A greedy program uses more of something than it may.
type greedy struct {
	name, code string
	limits     sandbox.Limits
	cause      codeinterp.Cause // empty if the program sees an error and goes on
	says       string
	never      string // what it prints if nothing holds it back
	not, only  sandbox.Mode
	needs      func() bool   // reports whether this machine allows it
	after      time.Duration // when it is killed, after its first output
}

const mib = 1 << 20

// hide goes on with a program in an interpreter whose file has that mode.
const hide = `
import shutil
prelude = 'import ctypes, os, signal, socket, sys, time\n'
def hide(code, mode=0o111, file=sys.executable):
    name = 'p%o' % mode
    if not os.path.exists(name):
        fd = os.open(name, os.O_WRONLY | os.O_CREAT, mode)
        with open(file, 'rb') as f, open(fd, 'wb') as p: shutil.copyfileobj(f, p)
        if mode & 0o6000: os.chmod(name, mode)
    os.execv('./' + name, [file, '-I', '-u', '-c', code])
`

// tiny has its process, with the descriptors that it has, go on as a program of one
// page of code, without data, that waits.
const tiny = `
def tiny(mode=0o111):
    x86 = os.uname().machine == 'x86_64'
    # pause() or ppoll(0, 0, 0, 0), for ever
    code = bytes.fromhex('b8220000000f05ebf7' if x86 else 'e0031faae1031faae2031faae3031faa280980d2010000d4faffff17')
    size = 64 + 56 + len(code)
    elf = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 62 if x86 else 183, 1, 0x400000 + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    elf += struct.pack('<IIQQQQQQ', 1, 5, 0, 0x400000, 0x400000, size, size, 1 << 16) + code
    name = 'tiny%d' % os.getpid()
    fd = os.open(name, os.O_WRONLY | os.O_CREAT, mode)
    os.write(fd, elf); os.close(fd)
    os.execv('./' + name, [name])
`

// many has n mappings of a file with a long path, below those that there are.
const many = `
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
def many(n):
    for i in range(17): os.mkdir('d' * 200); os.chdir('d' * 200)
    fd = os.open('f' * 200, os.O_CREAT | os.O_RDWR)
    os.write(fd, b'x' * 4096)
    for i in range(n): libc.mmap(None, 4096, 1, 1, fd, 0)
    os.close(fd); os.chdir(os.environ['HOME'])
`

// behind ends the first thread of its process, and goes on in another one.
const behind = `
import threading
def behind(work):
    threading.Thread(target=work).start()
    libc.syscall(60 if os.uname().machine == 'x86_64' else 93, 0) # exit
`

var gluttons = slices.Concat(ofMemory, ofKernel, ofFiles)

// ofMemory are programs that use more than they may of memory, processors and what
// else there is, but for disks.
var ofMemory = []greedy{
	{name: "memory of one process", code: `
b = []
try:
    while len(b) < 1500: b.append(bytearray(1 << 20))
    print('NEVER')
except MemoryError: b = None; print('MemoryError')`, limits: sandbox.Limits{Memory: 512 * mib}, says: "MemoryError", never: "NEVER"},
	{name: "shared memory", code: `
m = mmap.mmap(-1, 1500 << 20)
for i in range(0, 1500 << 20, 4096): m[i] = 1
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of many processes", code: `
for i in range(8):
    if os.fork() == 0:
        b = bytearray(150 << 20); time.sleep(100); os._exit(0)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of orphans", code: `
for i in range(8):
    if os.fork() == 0:
        if os.fork() == 0:
            b = bytearray(150 << 20); time.sleep(100)
        os._exit(0)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of nameless files", only: sandbox.None, code: `
fds = [os.memfd_create('x') for i in range(20)]
b = b'x' * (1 << 20)
for fd in fds:
    for i in range(60): os.write(fd, b)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib, FileSize: 64 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "page tables", code: `
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size = 1 << 40
p = libc.mmap(None, size, 1, 0x4022, -1, 0)
libc.madvise(p, size, 15)
b = ctypes.create_string_buffer(1)
for off in range(0, 600 << 29, 2 << 20): ctypes.memmove(b, p + off, 1)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of nameless files that nobody may look at", not: sandbox.None, code: `
libc.prctl(4, 0, 0, 0, 0)
def fill():
    b = b'x' * (1 << 20)
    for i in range(30):
        fd = os.memfd_create('x')
        for j in range(40): os.write(fd, b)
    print('NEVER')
try: fill()
except OSError as e: print(e)`, limits: sandbox.Limits{Memory: 256 * mib}, says: "not implemented", never: "NEVER"},
	{name: "shared memory out of the page tables", code: `
keep = []
for i in range(15):
    m = mmap.mmap(-1, 100 << 20)
    for o in range(0, 100 << 20, 4 << 20):
        m[o:o + (4 << 20)] = b'x' * (4 << 20)
        m.madvise(mmap.MADV_DONTNEED, o, 4 << 20)
    keep.append(m)
    time.sleep(0.05)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "shared memory behind many mappings", not: sandbox.None, code: many + `
m = mmap.mmap(-1, 1200 << 20)
many(6000)
for o in range(0, 1200 << 20, 4 << 20):
    m[o:o + (4 << 20)] = b'x' * (4 << 20)
    m.madvise(mmap.MADV_DONTNEED, o, 4 << 20)
    time.sleep(0.02)
time.sleep(1)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "shared memory of a parent that has ended", code: `
def fill(n):
    m = mmap.mmap(-1, 100 << 20)
    for o in range(0, 100 << 20, 4 << 20): m[o:o + (4 << 20)] = b'x' * (4 << 20)
    time.sleep(0.05)
    if n == 0: os.close(1); time.sleep(100); print('NEVER')
    if os.fork() == 0: fill(n - 1)
    os._exit(0)
if os.fork() == 0: fill(15)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "shared memory that nobody touches", code: `
keep = [mmap.mmap(-1, 4 << 30) for i in range(4)]
for m in keep: m[1 << 30] = 1
if os.fork() == 0:
    keep[0][0:64 << 20] = b'x' * (64 << 20); time.sleep(1); os._exit(0)
b = bytearray(64 << 20)
os.wait()
print('fine')`, limits: sandbox.Limits{Memory: 256 * mib}, says: "fine"},
	{name: "memory of processes whose first thread has ended", code: behind + `
def work(): b = bytearray(150 << 20); time.sleep(100); print('NEVER'); os._exit(0)
for i in range(2):
    if os.fork() == 0: behind(work)
behind(work)`, limits: sandbox.Limits{Memory: 256 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "programs that nobody may look at, for a moment", code: hide + `
for i in range(10):
    if os.fork() == 0: hide("pass", file='/bin/true') # what a busy machine has ended soon too
    if os.wait()[1]: print('failed')
print('fine')`, limits: sandbox.Limits{Memory: 256 * mib}, says: "fine"},
	{name: "programs with rights that they do not get", code: hide + `
if os.fork() == 0: hide("import time; time.sleep(1)", 0o6755)
if os.wait()[1]: print('failed')
print('fine')`, limits: sandbox.Limits{Memory: 256 * mib}, says: "fine"},
	{name: "shared pages count once", code: `
b = bytearray(100 << 20)
for i in range(6):
    if os.fork() == 0: time.sleep(1); os._exit(0)
for i in range(6): os.wait()
print('fine')`, limits: sandbox.Limits{Memory: 300 * mib}, says: "fine"},
	{name: "forks", code: `
n = 0
try:
    while n < 5000:
        if os.fork() == 0: time.sleep(100); os._exit(0)
        n += 1
    print('NEVER')
except OSError as e: print(e)
time.sleep(1)`, limits: sandbox.Limits{Processes: 40}, never: "NEVER"},
	{name: "fork bomb", code: `
print('up', flush=True)
while True:
    try: os.fork()
    except OSError: pass`, limits: sandbox.Limits{Processes: 40}, says: "up", after: 300 * time.Millisecond},
	{name: "threads", code: `
import threading
try:
    for i in range(3000): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
    print('NEVER')
except RuntimeError as e: print(e)
os._exit(0)`, limits: sandbox.Limits{Processes: 40}, never: "NEVER"},
	{name: "CPU time of one process", code: `
while True: pass`, limits: sandbox.Limits{CPU: 1}, cause: codeinterp.CauseCPU},
	{name: "CPU time, signal ignored", not: sandbox.Bwrap, code: `
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True: pass`, limits: sandbox.Limits{CPU: 1}, cause: codeinterp.CauseCPU},
	{name: "CPU time of many processes", code: `
for i in range(3):
    if os.fork() == 0:
        while True: pass
time.sleep(30)`, limits: sandbox.Limits{CPU: 1}, cause: codeinterp.CauseCPU},
	{name: "CPU time of children that nobody waits for", needs: sandbox.CanClock, code: `
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
r, w = os.pipe()
for i in range(300):
    if os.fork() == 0:
        while time.process_time() < 0.01: pass
        os.write(w, b'.'); os._exit(0)
    os.read(r, 1)
print('NEVER')`, limits: sandbox.Limits{CPU: 1}, cause: codeinterp.CauseCPU, never: "NEVER"},
	{name: "CPU time off the clock", needs: sandbox.CanClock, code: hide + `
hide('''import os, sys
os.execv(sys.executable, [sys.executable, '-I', '-u', '-c', """import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
r, w = os.pipe()
for i in range(1500):
    if os.fork() == 0:
        while time.process_time() < 0.01: pass
        os.write(w, b'.'); os._exit(0)
    os.read(r, 1)
print('NEVER')"""])''')`, limits: sandbox.Limits{CPU: 2}, cause: codeinterp.CauseCPU, never: "NEVER"},
	{name: "open files", code: `
l = []
try:
    while True: l.append(open('/dev/null'))
except OSError as e: print(e, len(l) < 70)`, limits: sandbox.Limits{OpenFiles: 64}, says: "Too many open files: '/dev/null' True"},
	{name: "stack", code: `
sys.setrecursionlimit(10**9)
def f(x): return f(x + 1)
f(0)`, limits: sandbox.Limits{Memory: 64 * mib}},
	{name: "segmentation fault", code: `ctypes.string_at(0)`, cause: codeinterp.CauseSignal},
	{name: "timers", code: `
n = 0
def tick(*a):
    global n; n += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
while n <= 10: pass
signal.setitimer(signal.ITIMER_REAL, 0)
print('ticked', n > 10)`, says: "ticked True"},
}

func TestLimits(t *testing.T) {
	if !aparttest.Run(t) {
		eachMode(t, testLimits)
	}
}

func testLimits(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	s := open(t, &sandbox.Options{Require: mode})
	for i, g := range gluttons {
		if !race.Takes(i+int(mode), 3) { // the modes divide them
			continue
		}
		if g.not == mode || g.only != sandbox.Auto && g.only != mode || g.needs != nil && !g.needs() {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			got := g.run(t, s)
			if g.cause != "" && (got.exit.Cause != g.cause || got.exit.Killed) {
				t.Errorf("got %+v, want cause %s", got, g.cause)
			}
			if g.cause != "" && g.cause != codeinterp.CauseSignal && got.exit.Signal == 9 && got.exit.Detail == "" {
				t.Errorf("no detail in %+v", got)
			}
			if g.says != "" && g.cause == "" && g.after == 0 && got.exit.Code != 0 {
				t.Errorf("ended with %+v", got.exit)
			}
			if g.cause == codeinterp.CauseMemory && peak(got.exit.Detail) > g.limits.Memory/mib*2 && quiet() {
				t.Errorf("overshot: %s", got.exit.Detail)
			}
			if !strings.Contains(got.out, g.says) || (g.never != "" && strings.Contains(got.out, g.never)) {
				t.Errorf("got %+v", got)
			}
			t.Logf("%v %+v", got.took.Round(time.Millisecond), got.exit)
		})
	}
}

// run runs the program, with its limits.
func (g greedy) run(t testing.TB, s *sandbox.Sandbox) ran {
	t.Helper()
	dir := must(s.TempDir())
	defer s.Discard(dir)
	c := sandbox.Cmd{
		Path: python, Args: []string{"python3", "-I", "-u", "-"}, Workdir: dir,
		Env: s.Env(dir, nil, map[string]string{"H": "{}"}), Limits: g.limits,
	}
	return runUntil(t, s, c, prelude+g.code+"\n", g.after)
}

// quiet reports whether the machine had a processor to spare in the last
// minute: the watchdog is late where it has not.
func quiet() bool {
	b, _ := os.ReadFile("/proc/loadavg")
	load, err := strconv.ParseFloat(strings.Fields(string(b) + " x")[0], 64)
	return err == nil && load < float64(runtime.NumCPU())
}

// peak is how far a limit on memory was overshot, from the detail.
func peak(detail string) int64 {
	_, rest, _ := strings.Cut(detail, "memory: ")
	n, _, _ := strings.Cut(rest, " ")
	v, _ := strconv.ParseInt(n, 10, 64)
	return v
}
