//go:build real && (amd64 || arm64)

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
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A glutton uses more of something than it may.
type glutton struct {
	name, code string
	limits     sandbox.Limits
	cause      codeinterp.Cause // empty if the program sees an error and goes on
	says       string
	never      string // what it prints if nothing holds it back
	not, only  sandbox.Mode
	after      time.Duration // when it is killed, after its first output
}

const mib = 1 << 20

var gluttons = slices.Concat(ofMemory, ofFiles)

// ofMemory are programs that use more than they may of memory, processors and what
// else there is, but for disks.
var ofMemory = []glutton{
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
	{name: "memory files are refused", not: sandbox.None, code: `
libc.prctl(4, 0, 0, 0, 0)
def fill():
    b = b'x' * (1 << 20)
    for i in range(30):
        fd = os.memfd_create('x')
        for j in range(40): os.write(fd, b)
    print('NEVER')
try: fill()
except OSError as e: print(e)`, limits: sandbox.Limits{Memory: 256 * mib}, says: "not implemented", never: "NEVER"},
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
	nightly(t, testLimits)
}

func testLimits(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	s := open(t, &sandbox.Options{Require: mode})
	for _, g := range gluttons {
		if g.not == mode || g.only != sandbox.Auto && g.only != mode {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			late := lateness()
			got := g.run(t, s)
			idle := late() < 20*time.Millisecond && quiet()
			if g.cause != "" && (got.exit.Cause != g.cause || got.exit.Killed) {
				t.Errorf("got %+v, want cause %s", got, g.cause)
			}
			if g.cause != "" && g.cause != codeinterp.CauseSignal && got.exit.Signal == 9 && got.exit.Detail == "" {
				t.Errorf("no detail in %+v", got)
			}
			if g.says != "" && g.cause == "" && g.after == 0 && got.exit.Code != 0 {
				t.Errorf("ended with %+v", got.exit)
			}
			if g.cause == codeinterp.CauseMemory && peak(got.exit.Detail) > g.limits.Memory/mib*2 && idle {
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
func (g glutton) run(t testing.TB, s *sandbox.Sandbox) result {
	t.Helper()
	dir := must(s.TempDir())
	defer s.Discard(dir)
	c := sandbox.Cmd{
		Path: python, Args: []string{"python3", "-I", "-u", "-"}, Workdir: dir,
		Env: s.Env(dir, nil, map[string]string{"H": "{}"}), Limits: g.limits,
	}
	return runUntil(t, s, c, prelude+g.code+"\n", g.after)
}

// lateness measures by how much a goroutine comes late at most, as the watchdog does then,
// until the function that it returns is called.
func lateness() (stop func() time.Duration) {
	const pause = 5 * time.Millisecond
	done, most := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			begin := time.Now()
			select {
			case <-done:
				most <- late
				return
			case <-time.After(pause):
				late = max(late, time.Since(begin)-pause)
			}
		}
	}()
	return func() time.Duration { close(done); return <-most }
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
