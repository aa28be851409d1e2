//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// ofFiles are programs that use more of a disk than they may.
var ofFiles = []greedy{
	{name: "size of a file", code: `
f = open('big', 'wb', 0)
try:
    for i in range(200): f.write(b'x' * (1 << 20))
    print('NEVER')
except OSError as e: print(e)
try: os.truncate('big', 1 << 50); print('NEVER')
except OSError as e: print(e)`, limits: sandbox.Limits{FileSize: 16 * mib}, says: "File too large", never: "NEVER"},
	{name: "sizes of many files", code: `
for i in range(60):
    with open('big%d' % i, 'wb', 0) as f:
        for j in range(10): f.write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files that nobody writes", not: sandbox.None, code: `
import fcntl
f = open('small', 'wb', 0)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
for mode in 0, 1, 0x10, 0x11, 0x40, 0x80:
    if libc.fallocate(f.fileno(), mode, 0, 8 << 20) == 0: print('NEVER', mode)
for request in 0x40305828, 0x4030582a, 0x40305839: # FS_IOC_RESVSP, RESVSP64, ZERO_RANGE
    try: fcntl.ioctl(f, request, struct.pack('hhqqiI4i', 0, 0, 0, 8 << 20, 0, 0, 0, 0, 0, 0)); print('NEVER', request)
    except OSError: pass
os.posix_fallocate(f.fileno(), 0, 8 << 20)
st = os.stat('small')
print('writes instead', st.st_size == 8 << 20, st.st_blocks * 512 >= 8 << 20)
print('gives back', libc.fallocate(f.fileno(), 3, 0, 8 << 20), os.stat('small').st_blocks * 512 < 8 << 20, flush=True)
for i in range(20): os.posix_fallocate(os.open('f%d' % i, os.O_CREAT | os.O_WRONLY), 0, 64 << 20)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, says: "writes instead True True\ngives back 0 True\n", never: "NEVER"},
	{name: "sizes of removed files", code: `
l = []
for i in range(60):
    l.append(open('big', 'wb', 0)); os.remove('big')
    for j in range(10): l[-1].write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib, OpenFiles: 2000}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes in a directory that cannot be listed", code: `
os.mkdir('d', 0o300); os.mkdir('d/e', 0o300)
for i in range(60):
    with open('d/e/big%d' % i, 'wb', 0) as f:
        for j in range(10): f.write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files that are only mapped", code: `
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for i in range(60):
    fd = os.open('f', os.O_RDWR | os.O_CREAT)
    for j in range(10): os.write(fd, b'x' * (1 << 20)); time.sleep(0.002)
    libc.mmap(None, 4096, 1, 1, fd, 0)
    os.close(fd); os.unlink('f')
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files that are only mapped, behind many mappings", not: sandbox.None, code: many + `
size, step = 400 << 20, 4 << 20
fd = os.open('big', os.O_CREAT | os.O_RDWR); os.ftruncate(fd, size)
m = libc.mmap(None, size, 3, 1, fd, 0)
os.close(fd); os.unlink('big')
many(5000)
for o in range(0, size, step):
    ctypes.memmove(m + o, b'x' * step, step)
    libc.msync(ctypes.c_void_p(m + o), ctypes.c_size_t(step), 4)
    time.sleep(0.02)
time.sleep(5)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files in flight", code: `
a, z = socket.socketpair()
for i in range(60):
    fd = os.open('f', os.O_RDWR | os.O_CREAT)
    for j in range(10): os.write(fd, b'x' * (1 << 20)); time.sleep(0.002)
    socket.send_fds(a, [b'x'], [fd])
    os.close(fd); os.unlink('f')
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files that only a system call has", not: sandbox.None, code: `
import threading
r, w = os.pipe()
os.set_blocking(w, False)
try:
    while True: os.write(w, b'x' * 4096)
except BlockingIOError: pass
os.set_blocking(w, True)
for i in range(8):
    f = os.open('f', os.O_CREAT | os.O_RDWR)
    for j in range(24): os.write(f, b'x' * (1 << 20)); time.sleep(0.002)
    threading.Thread(target=os.sendfile, args=(w, f, 0, 1 << 20), daemon=True).start()
    time.sleep(0.1)
    os.close(f); os.unlink('f')
    time.sleep(0.3)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files that are only executed", not: sandbox.None, needs: func() bool { return runtime.GOARCH == "amd64" }, code: alone + `
for i in range(8):
    alone('f', 24)
    os.unlink('f'); time.sleep(0.3)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files that nobody may look at", not: sandbox.None, code: hide + `
hide(prelude + """
f = open('big', 'wb', 0); os.unlink('big')
for i in range(200): f.write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')""")`, limits: sandbox.Limits{Memory: -1, Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of removed files that a program without data keeps", not: sandbox.None, code: tiny + `
for i in range(6):
    if os.fork() == 0:
        fd = os.open('f%d' % i, os.O_RDWR | os.O_CREAT); os.unlink('f%d' % i)
        os.set_inheritable(fd, True)
        for j in range(24): os.write(fd, b'x' * (1 << 20)); time.sleep(0.002)
        tiny()
    time.sleep(0.5)
time.sleep(1)
print('NEVER')`, limits: sandbox.Limits{Memory: -1, Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of removed files behind a thread that has ended", code: behind + `
def work():
    f = open('big', 'wb', 0); os.unlink('big')
    for i in range(200): f.write(b'x' * (1 << 20)); time.sleep(0.002)
    time.sleep(100); print('NEVER'); os._exit(0)
behind(work)`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes beside a deep tree", code: `
for i in range(2100): os.mkdir('d'); os.chdir('d') # deeper than a path is long
os.chdir(os.environ['HOME'])
for i in range(60):
    with open('big%d' % i, 'wb', 0) as f:
        for j in range(10): f.write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "number of files in a directory that cannot be listed", code: `
os.mkdir('d', 0o300)
for i in range(6000): os.close(os.open('d/%d' % i, os.O_CREAT))
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Inodes: 2000}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "number of files", code: `
os.mkdir('d')
for i in range(6000): os.close(os.open('d/%d' % i, os.O_CREAT))
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Inodes: 2000}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "number of files in /tmp", code: `
if not os.path.isdir('/tmp') or not os.access('/workspace', os.W_OK): print('other mode'); sys.exit()
for i in range(500000): os.close(os.open('/tmp/%d' % i, os.O_CREAT))
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Inodes: 2000}, never: "NEVER"},
	{name: "bytes in /tmp", code: `
try:
    for n in '/dev/shm/a', '/tmp/a', '/dev/shm/b', '/tmp/b':
        with open(n, 'wb', 0) as f:
            for i in range(100): f.write(b'x' * (1 << 20))
    print('NEVER')
except OSError as e: print(e)
for n in '/dev/shm/a', '/tmp/a', '/dev/shm/b', '/tmp/b':
    try: os.remove(n)
    except OSError: pass`, limits: sandbox.Limits{Memory: 256 * mib}, never: "NEVER", not: sandbox.None},
}

// alone makes a file of so many MiB and has a process execute it that copies its code
// elsewhere and unmaps the file.
const alone = `
def alone(name, size):
    # mmap(0, 4096, RWX, PRIVATE | ANON), and there munmap(0x400000, 4096) and pause()
    code = bytes.fromhex('31ffbe00100000ba0700000041ba2200000049c7c0ffffffff4531c9b8090000000f054889c34889c7'
        '488d3509000000b930000000f3a4ffe3bf00004000be00100000b80b0000000f05b8220000000f05ebf7') + b'\x90' * 48
    end = 120 + len(code)
    elf = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 62, 1, 0x400000 + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    elf += struct.pack('<IIQQQQQQ', 1, 5, 0, 0x400000, 0x400000, end, end, 0x1000) + code
    fd = os.open(name, os.O_CREAT | os.O_WRONLY, 0o755)
    os.write(fd, elf)
    for i in range(size): os.write(fd, b'x' * (1 << 20))
    os.close(fd)
    if os.fork() == 0: os.execv('./' + name, [name])
    time.sleep(0.1)
`

// TestHiddenBeside: what others have, each within its limit, hides nothing of a
// program that begins later, whether they stay or go.
func TestHiddenBeside(t *testing.T) {
	if !aparttest.Run(t) {
		eachMode(t, testHiddenBeside)
	}
}

func testHiddenBeside(t *testing.T, mode sandbox.Mode) {
	limits := sandbox.Limits{Disk: 48 * mib}
	const others, each = 6, 40 * mib
	for _, when := range []string{"stay", "go"} {
		t.Run("others "+when, func(t *testing.T) {
			s := open(t, &sandbox.Options{Require: mode})
			var wait sync.WaitGroup
			dirs := make([]string, others)
			for i := range dirs {
				dirs[i] = must(s.TempDir())
				c := sandbox.Cmd{Path: python, Args: []string{"python3", "-I", "-u", "-"}, Workdir: dirs[i], Limits: limits}
				wait.Go(func() {
					defer s.Discard(dirs[i])
					runUntil(t, s, c, "import os, time\nopen('f', 'wb').write(bytes(40 << 20))\nwhile not os.path.exists('end'): time.sleep(0.05)\n", 0)
				})
			}
			end := sync.OnceFunc(func() {
				for _, dir := range dirs {
					if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
						t.Error(err)
					}
				}
				wait.Wait()
			})
			defer end()
			for late := time.Now().Add(patience); s.Gained() < others*each; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(late) {
					t.Fatal("no walk has found what they have")
				}
			}
			g := greedy{limits: limits, code: hidden}
			if when == "go" {
				time.AfterFunc(2*time.Second, end)
			}
			got := g.run(t, s)
			if got.exit.Cause != codeinterp.CauseDisk {
				t.Errorf("got %+v", got)
			}
			end()
		})
	}
}

// hidden writes 240 MiB to a file that is only mapped.
const hidden = many + `
size, step = 240 << 20, 4 << 20
fd = os.open('big', os.O_CREAT | os.O_RDWR); os.ftruncate(fd, size)
m = libc.mmap(None, size, 3, 1, fd, 0)
os.close(fd); os.unlink('big')
time.sleep(3)
for o in range(0, size, step):
    ctypes.memmove(m + o, b'x' * step, step)
    libc.msync(ctypes.c_void_p(m + o), ctypes.c_size_t(step), 4)
    time.sleep(0.02)
time.sleep(5)
print('NEVER')`

// TestOthersWrite: what others write to the disk is nothing of a program's, which goes
// on after it was looked at more closely.
func TestOthersWrite(t *testing.T) {
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		s := open(t, &sandbox.Options{Require: mode})
		begun := time.AfterFunc(time.Second, func() {
			path := filepath.Join(t.TempDir(), "others")
			for i := range 3 {
				if err := os.WriteFile(path+strconv.Itoa(i), make([]byte, 60*mib), 0o600); err != nil {
					t.Error(err)
				}
				time.Sleep(500 * time.Millisecond)
			}
		})
		defer begun.Stop()
		g := greedy{limits: sandbox.Limits{Disk: 48 * mib}, code: `
import subprocess
child = subprocess.Popen(['/usr/bin/env', 'sleep', '4'], start_new_session=True)
for i in range(60): open('f%d' % (i % 3), 'w').write(str(i)); time.sleep(0.05)
print('lives', child.wait())`}
		if got := g.run(t, s); got.exit.Code != 0 || got.out != "lives 0\n" {
			t.Errorf("got %+v", got)
		}
	})
}
