//go:build amd64 || arm64

package sandbox_test

import (
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// fill makes pairs of sockets that are full.
const fill = `
def fill(n, size=4096):
    keep = []
    while len(keep) < n:
        p = socket.socketpair()
        keep.append(p)
        for s in p:
            s.setblocking(False)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            try:
                while True: s.send(b'x' * size)
            except OSError: pass
    return keep
def again():
    for i in range(10): # others on the machine may give memory back meanwhile
        keep = []
        for j in range(20): keep += fill(20, 1 << 15); time.sleep(0.01)
        time.sleep(1)
`

// ofKernel are programs that have the kernel hold more memory than they may.
var ofKernel = []greedy{
	{name: "memory of sockets", not: sandbox.None, code: fill + `
s = socket.socketpair()[0]
before = s.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
print('stays', before == s.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF), flush=True)
for i in range(4):
    if os.fork() == 0: keep = fill(500); time.sleep(100); os._exit(0)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 256 * mib, OpenFiles: 1024}, cause: codeinterp.CauseMemory, says: "stays True", never: "NEVER"},
	{name: "memory of sockets in flight", not: sandbox.None, code: fill + `
for n in range(10): # others on the machine may give memory back meanwhile
    a, z = socket.socketpair()
    for i in range(50): # each of what is in flight carries others
        b, y = socket.socketpair()
        keep = [s for p in fill(9, 1 << 15) for s in p]
        socket.send_fds(b, [b'x'], [s.fileno() for s in keep])
        socket.send_fds(a, [b'x'], [y.fileno()])
        for s in keep + [b, y]: s.close()
        time.sleep(0.01)
    time.sleep(1)
    keep = a = z = None
    time.sleep(0.2)
print('NEVER')`, limits: sandbox.Limits{Memory: 48 * mib, OpenFiles: 1024}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of sockets that only a system call has", not: sandbox.None, code: fill + `
import select, threading
threading.stack_size(1 << 18)
for n in range(30): # others on the machine may give memory back meanwhile
    keep, p = fill(60), select.poll()
    for pair in keep:
        for s in pair: p.register(s.fileno(), 0)
    threading.Thread(target=p.poll, args=(100000,), daemon=True).start()
    time.sleep(0.2)
    for pair in keep:
        for s in pair: s.close()
    time.sleep(0.3)
print('NEVER')`, limits: sandbox.Limits{Memory: 128 * mib, OpenFiles: 1024}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of events that nobody reads", only: sandbox.Bwrap, code: `
os.mkdir('d')
keep = [libc.inotify_init1(0) for i in range(100)]
for fd in keep: libc.inotify_add_watch(fd, b'd', 0xfff)
name = 'a' * 250
os.close(os.open('d/' + name + '0', os.O_CREAT))
for i in range(8000): os.rename('d/%s%d' % (name, i % 2), 'd/%s%d' % (name, 1 - i % 2))
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Memory: 128 * mib}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of tables and requests of the kernel's", not: sandbox.None, code: `
r = libc.syscall(206 if os.uname().machine == 'x86_64' else 0, 8, ctypes.byref(ctypes.c_ulong()))
print('io_setup', r, os.strerror(ctypes.get_errno()))
r = libc.prctl(78, 1, ctypes.c_ulong(4), ctypes.c_ulong(0), 0)
print('futexes', r, os.strerror(ctypes.get_errno()))`, says: "io_setup -1 Function not implemented\nfutexes -1 Invalid argument\n"},
	{name: "memory of rules for Landlock", not: sandbox.None, code: `
r = libc.syscall(444, struct.pack('QQQ', 1, 0, 0), 8, 0) # landlock_create_ruleset
print('rules', r, os.strerror(ctypes.get_errno()))
r = libc.syscall(445, 0, 1, None, 0)
print('rule', r, os.strerror(ctypes.get_errno()))`, says: "rules -1 Function not implemented\nrule -1 Function not implemented\n"},
	{name: "memory of what epolls watch", not: sandbox.None, code: `
import select
def watch():
    keep, events = [], [os.eventfd(0) for i in range(400)]
    for i in range(400):
        keep.append(select.epoll())
        for fd in events: keep[-1].register(fd, 0)
    time.sleep(100)
for i in range(40): # others on the machine may give memory back meanwhile
    if os.fork() == 0: watch()
    time.sleep(0.5)
print('NEVER')`, limits: sandbox.Limits{Memory: 192 * mib, OpenFiles: 1024}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "epolls that watch little", code: `
import select
events = [os.eventfd(0) for i in range(100)]
keep = [select.epoll() for i in range(100)]
for e in keep:
    for fd in events: e.register(fd, 0)
b = bytearray(64 << 20)
time.sleep(1)
print('fine')`, limits: sandbox.Limits{Memory: 256 * mib, OpenFiles: 1024}, says: "fine"},
	{name: "descriptors in flight", code: `
a, z = socket.socketpair()
socket.send_fds(a, [b'x'], [1, a.fileno()])
b = bytearray(64 << 20)
time.sleep(1)
print('fine', len(socket.recv_fds(z, 1, 9)[1]))`, limits: sandbox.Limits{Memory: 512 * mib}, says: "fine 2"},
	{name: "memory of sockets that nobody may look at", not: sandbox.None, code: hide + `
hide(prelude + """` + fill + `
for i in range(3):
    if os.fork() == 0: again(); os._exit(0)
os.wait()
print('NEVER')""")`, limits: sandbox.Limits{Memory: 160 * mib, OpenFiles: 1024}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of sockets that a program without data keeps", not: sandbox.None, code: fill + tiny + `
for i in range(40): # others on the machine may give memory back meanwhile
    if os.fork() == 0:
        keep = fill(50, 1 << 15)
        for p in keep:
            for s in p: s.set_inheritable(True)
        tiny()
    time.sleep(0.3)
print('NEVER')`, limits: sandbox.Limits{Memory: 160 * mib, OpenFiles: 1024}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "memory of sockets behind a thread that has ended", not: sandbox.None, code: behind + fill + `
def work():
    again(); print('NEVER'); os._exit(0)
for i in range(2):
    if os.fork() == 0: behind(work)
behind(work)`, limits: sandbox.Limits{Memory: 160 * mib, OpenFiles: 1024}, cause: codeinterp.CauseMemory, never: "NEVER"},
	{name: "descriptors of a thread's own", not: sandbox.None, code: `
CLONE_VM, CLONE_FS, CLONE_SIGHAND, CLONE_THREAD = 0x100, 0x200, 0x800, 0x10000
stack = ctypes.create_string_buffer(1 << 16)
r = libc.clone(libc.pause, ctypes.c_void_p(ctypes.addressof(stack) + (1 << 15)), CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD, None)
print('clone', r, os.strerror(ctypes.get_errno()))
r = libc.syscall(436, 900, 901, 2) # close_range, CLOSE_RANGE_UNSHARE
print('close_range', r, os.strerror(ctypes.get_errno()))`, says: "clone -1 Operation not permitted\nclose_range -1 Invalid argument\n"},
	{name: "memory that belongs to no process", not: sandbox.None, code: `
class iovec(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]
for id in libc.shmget(0, ctypes.c_size_t(1 << 20), 0o1600), libc.semget(0, 4000, 0o1600), libc.msgget(0, 0o1600):
    if id >= 0: print('NEVER', id)
r, w = os.pipe()
b = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
v = iovec(ctypes.addressof(ctypes.c_char.from_buffer(b)), 4096)
if libc.vmsplice(w, ctypes.byref(v), ctypes.c_size_t(1), 0) >= 0: print('NEVER')
small = libc.shmget(0, ctypes.c_size_t(4096), 0o1600), libc.semget(0, 2, 0o1600)
print('small', 'fine' if min(small) >= 0 or ctypes.get_errno() == errno.ENOSYS else small)`, says: "small fine", never: "NEVER"},
	{name: "sockets that hold nothing", code: `
keep = [socket.socketpair() for i in range(500)]
for a, z in keep: a.send(b'x'); z.recv(1)
b = bytearray(64 << 20)
time.sleep(1)
print('fine')`, limits: sandbox.Limits{Memory: 256 * mib, OpenFiles: 1024}, says: "fine"},
}
