//go:build real && (amd64 || arm64)

package sandbox_test

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

//go:embed testdata/prelude.py
var prelude string

// An attack is a Python program that prints REACHED, or a secret, if it gets
// somewhere it must not; after it nothing of the host's may have changed. In
// none mode it only has to end.
type attack struct {
	name, code string

	// wants is what it prints where all is well, in every mode.
	wants string

	// known says why it is known to get through in a mode, as the package
	// documents. It has to.
	known map[sandbox.Mode]string
}

var attacks = []attack{
	{name: "environment", code: `import getpass; print(getpass.getuser(), dict(os.environ, H=''))`, wants: "HOME"},
	{name: "environment of other processes", code: `
for p in [os.getppid(), 1, 'self', H['Pid'], H['Victim']] + (attempt(os.listdir, '/proc') or []):
    if str(p).isdigit() and int(p) != os.getpid():
        b = attempt(read, '/proc/%s/environ' % p)
        if b and b'HOST_SECRET' in b: reached(p)`},
	{name: "command lines of other processes", code: `
for p in (H['Pid'], H['Victim']):
    if attempt(read, '/proc/%s/cmdline' % p) and p not in (1, 2): reached(p)`},
	{name: "memory of other processes", code: `
for f in 'mem', 'maps', 'fd/0', 'root/etc/passwd', 'cwd/x':
    if attempt(lambda: open('/proc/%d/%s' % (H['Victim'], f)).read(1)): reached(f)
if libc.ptrace(0x4206, H['Victim'], 0, 0) == 0: reached('ptrace')
call('pidfd_getfd', NR['PIDFD_GETFD'], attempt(os.pidfd_open, H['Victim']) or -1, 1, 0)`},
	{name: "inherited descriptors", code: `
for fd in range(3, 1024):
    try: os.fstat(fd)
    except OSError: continue
    reached(fd)
print('done')`, wants: "done"},
	{name: "secret file", code: `
os.symlink(H['Secret'], 'link')
attempt(os.link, H['Secret'], 'hard')
for p in H['Secret'], 'link', 'hard', '/proc/self/root' + H['Secret'], '/proc/1/root' + H['Secret'], '/proc/%d/root%s' % (H['Pid'], H['Secret']):
    print(p, attempt(read, p))
attempt(os.chdir, H['Dir'])
print(attempt(read, 'id_rsa'))
call('open_by_handle_at', NR['OPEN_BY_HANDLE_AT'], -100, 0, 0)`},
	{name: "what lies beside what is shown", code: `
names = ('id_rsa', 'local/id_rsa', 'local/tool-1.2/id_rsa', 'local/tool/id_rsa', 'local/tool-1.2/lib/../id_rsa', 'local/tool-1.2/lib/id_rsa', 'local/tool/lib/id_rsa')
for p in [os.path.join(H['Closed'], n) for n in names] + ['/proc/self/root' + H['Closed'] + '/id_rsa', '/proc/%d/root%s/id_rsa' % (H['Pid'], H['Closed'])]:
    print(p, attempt(read, p))
for p, only in (H['Closed'], ['local']), (H['Closed'] + '/local', ['tool', 'tool-1.2']), (H['Closed'] + '/local/tool-1.2', ['lib']), (H['Shown'], ['module']):
    if set(attempt(os.listdir, p) or only) - set(only): reached(p)
for p in H['Closed'], H['Closed'] + '/local', H['Shown']:
    attempt(lambda: open(os.path.join(p, H['Mark']), 'w').write(reached(p)))
attempt(lambda: open(H['Shown'] + '/module', 'a').write(reached('module')))
attempt(os.chmod, H['Shown'] + '/module', 0)
attempt(os.link, H['Shown'] + '/module', 'module')
for flags in 0, 2, 8:
    if libc.umount2(H['Closed'].encode(), flags) == 0: reached('umount')
if libc.mount(b'x', H['Shown'].encode(), None, 32, None) == 0: reached('mount')`},
	{name: "accounts and directories", code: `
for p in '/etc/passwd', '/etc/shadow', '/etc/group', '/etc/hostname', '/var/run/docker.sock', '/var/log/dpkg.log':
    text = attempt(read, p)
    if text and not text.startswith(b'user:'): reached(p) # its own entry is no account of the host's
for p in '/home', '/root', '/var', H['Dir'], '/tmp':
    names = attempt(os.listdir, p)
    if set(names or []) - {'cache', 'tmp'}: reached(p + ' ' + str(names))`},
	{name: "writing outside", code: `
for d in '/tmp', '/var/tmp', '/dev/shm', H['Dir'], '/', '/etc', '/usr', '/usr/local/bin', '/dev', '/run':
    attempt(lambda: open(os.path.join(d, H['Mark']), 'w').write('x'))
attempt(lambda: open(H['Mine'], 'a').write('x'))
attempt(lambda: os.open(H['Mine'], os.O_RDONLY | os.O_TRUNC))
attempt(os.truncate, H['Mine'], 0)
attempt(os.remove, H['Mine'])
attempt(os.rename, H['Mine'], 'stolen')
attempt(os.mkdir, os.path.join(H['Dir'], 'dir'))
attempt(os.symlink, 'x', os.path.join(H['Dir'], 'symlink'))
attempt(os.mkfifo, os.path.join(H['Dir'], 'fifo'))`},
	{name: "metadata outside", code: `
for f in (lambda: os.chmod(H['Mine'], 0), lambda: os.utime(H['Mine'], (1, 1)), lambda: os.chown(H['Mine'], os.getuid(), os.getgid()),
          lambda: os.utime(H['Mine']), lambda: os.setxattr(H['Mine'], 'user.x', b'x'), lambda: os.chmod(H['Dir'], 0o700)):
    attempt(f)
libc.syscall(NR['FCHMODAT2'], -100, H['Mine'].encode(), 0, 0)`},
	{name: "kernel's files", code: `
for p in '/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/proc/self/oom_score_adj', '/sys/kernel/mm/transparent_hugepage/enabled':
    def f():
        with open(p, 'r+') as f: f.write(f.read())
        if 'oom_score' not in p: reached(p)
    attempt(f)
if attempt(os.listdir, '/sys/class/net'): reached('network cards')`},
	{name: "signals", code: `
for s in (0, 9):
    for p in H['Victim'], H['Pid'], os.getppid():
        if p < 3: continue
        try: os.kill(p, s); reached(p)
        except OSError as e: print(e)
try: os.kill(-1, 9)
except OSError as e: print(e)
attempt(os.killpg, 0, 0)
print('alive')`},
	{name: "signals to every thread", code: `
for t in sorted(set(range(3, 33000)) | set(range(max(3, H['Pid'] - 200), H['Pid'] + 5000))):
    if t == os.getpid(): continue
    if libc.kill(t, 0) == 0: reached(t)
    if libc.syscall(NR['TKILL'], t, 0) == 0: reached('thread %d' % t)
print('alive')`, wants: "alive"},
	{name: "names and sizes outside", code: `
try: reached(os.stat(H['Secret']).st_size)
except OSError as e: print(e)`, known: map[sandbox.Mode]string{sandbox.Landlock: "stat works on every path"}},
	{name: "name of the host", code: `
if os.uname().nodename == H['Name']: reached(H['Name'])`, known: map[sandbox.Mode]string{sandbox.Landlock: "uname works"}},
	{name: "set-user-ID files", code: `
open('x', 'w').close()
attempt(os.chmod, 'x', 0o4755)
if os.stat('x').st_mode & 0o4000: reached('set')`, known: map[sandbox.Mode]string{
		sandbox.Landlock: "programs of another uid may do it to their files", sandbox.Bwrap: "programs may do it to their files"}},
	{name: "a sibling", code: `
r = libc.syscall(NR['CLONE'], 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)
if r == 0: os._exit(0)
if r > 0: reached(r)`},
	{name: "other processes' attributes", code: `
attempt(lambda: resource.prlimit(H['Victim'], resource.RLIMIT_NOFILE, (17, 17)))
attempt(lambda: os.sched_setaffinity(H['Victim'], [0]))
attempt(lambda: os.setpriority(os.PRIO_PROCESS, H['Victim'], 19))
attempt(lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19))
attempt(lambda: os.sched_setscheduler(H['Victim'], os.SCHED_IDLE, os.sched_param(0)))
libc.syscall(NR['IOPRIO_SET'], 1, H['Victim'], 3 << 13)
def f(): os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); reached('FIFO')
attempt(f)
def f(): os.nice(-5); reached('nice')
attempt(f)`},
	{name: "internet sockets", code: `
def tcp(): socket.create_connection(('127.0.0.1', H['TCP']), 1)
def udp(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', H['UDP']))
def meta(): socket.create_connection(('169.254.169.254', 80), 1); reached('metadata')
def dns(): socket.gethostbyname('x.invalid')
def out(): socket.create_connection(('192.0.2.1', 80), 1); reached('internet')
for f in tcp, udp, meta, dns, out: attempt(f)`},
	{name: "addresses of the host", code: `
import fcntl, struct
buf = ctypes.create_string_buffer(4096)
for s in socket.socketpair():
    def f():
        n = struct.unpack('iP', fcntl.ioctl(s, 0x8912, struct.pack('iP', 4096, ctypes.addressof(buf))))[0] # SIOCGIFCONF
        if [buf.raw[i:i + 16] for i in range(0, n, 40) if not buf.raw[i:i + 16].startswith((b'lo\0', b'lo:1'))]: reached('interfaces')
    attempt(f)
    for i in range(2, 9):
        def f():
            if fcntl.ioctl(s, 0x8910, struct.pack('16si20x', b'', i))[:3] != b'lo\0': reached('name') # SIOCGIFNAME
        attempt(f)`},
	{name: "unix sockets", code: `
for a in H['Socket'], '\0' + H['Abst']:
    attempt(lambda: socket.socket(socket.AF_UNIX).connect(a))
for a in H['Dgram'], '\0' + H['Abst'] + 'd':
    attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', a))
    attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', a))
    attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].sendto(b'x', a))
a, b = socket.socketpair()
b.close()
attempt(a.connect, H['Socket'])
print('pair')`, wants: "pair"},
	{name: "other socket families", code: `
for d in (socket.AF_NETLINK, socket.AF_PACKET, 38, 40, 44, 31):
    for t in socket.SOCK_RAW, socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
        try: socket.socket(d, t); reached(d)
        except OSError: pass
try: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); reached('raw')
except OSError: pass`},
	{name: "kernel interfaces", code: `
call('unshare user', NR['UNSHARE'], 0x10000000)
call('unshare mount', NR['UNSHARE'], 0x20000)
call('setns', NR['SETNS'], 0, 0)
call('clone user', NR['CLONE'], 0x10000000 | 17, 0, 0, 0, 0)
call('clone3', NR['CLONE3'], 0, 0)
call('mount', NR['MOUNT'], b'none', b'/tmp', b'tmpfs', 0, 0)
call('pivot_root', NR['PIVOT_ROOT'], b'.', b'.')
call('chroot', NR['CHROOT'], b'.')
call('io_uring', NR['IO_URING_SETUP'], 4, ctypes.create_string_buffer(256))
call('bpf', NR['BPF'], 0, ctypes.create_string_buffer(256), 128)
call('perf', NR['PERF_EVENT_OPEN'], ctypes.create_string_buffer(256), 0, -1, -1, 0)
call('userfaultfd', NR['USERFAULTFD'], 1)
call('keyctl', NR['KEYCTL'], 0, -3, 0)
call('add_key', NR['ADD_KEY'], b'user', b'x', b'x', 1, -3)
call('fanotify', NR['FANOTIFY_INIT'], 0, 0)
call('process_vm_readv', NR['PROCESS_VM_READV'], H['Victim'], 0, 0, 0, 0, 0)
call('kcmp', NR['KCMP'], os.getpid(), H['Victim'], 0, 0, 0)
call('reboot', NR['REBOOT'], 0, 0, 0, 0)
call('swapoff', NR['SWAPOFF'], b'x')
`},
	{name: "privileges", code: `
import subprocess
for c in ['su', '-c', 'id'], ['sudo', '-n', 'id'], ['passwd', '-S'], ['mount', '-t', 'tmpfs', 'x', '/mnt']:
    attempt(lambda: print(subprocess.run(c, capture_output=True, stdin=subprocess.DEVNULL).stdout))
if os.getuid() == 0 or os.geteuid() == 0: reached('root')
for f in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0])):
    def g(): f(); reached('root')
    attempt(g)
if libc.prctl(39, 0, 0, 0, 0) != 1: reached('new privileges')
class hdr(ctypes.Structure): _fields_ = [('v', ctypes.c_uint32), ('pid', ctypes.c_int)]
data = (ctypes.c_uint32 * 6)()
if libc.capget(ctypes.byref(hdr(0x20080522, 0)), data) or any(data[i] for i in (0, 3)): reached('capabilities')`},
	{name: "System V objects", code: `
for name, nr, args in ('shm', NR['SHMGET'], (0x7001, 4096, 0o1666)), ('sem', NR['SEMGET'], (0x7001, 1, 0o1666)), ('msg', NR['MSGGET'], (0x7001, 0o1666)), ('mq', NR['MQ_OPEN'], (b'toolcell', 0o102, 0o666, 0)):
    r = libc.syscall(nr, *args)
    print(name, r)`},
	{name: "terminal", code: `
import fcntl
try: fcntl.ioctl(0, 0x5412, b'x'); reached('TIOCSTI')
except OSError as e: print(e)
try: open('/dev/tty', 'w').write('x'); reached('tty')
except OSError as e: print(e)`},
	{name: "watching", code: `
fd = libc.inotify_init()
for d in H['Dir'], '/etc', '/tmp':
    if libc.inotify_add_watch(fd, d.encode(), 0xfff) >= 0 and os.path.exists(H['Mine']): reached(d)`},
	{name: "raising limits", code: `
for r in resource.RLIMIT_NOFILE, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC:
    def f(): resource.setrlimit(r, (-1, -1)); reached(r)
    attempt(f)`},
	{name: "standard input ends", code: `
try: print(input())
except EOFError: print('end')`, wants: "end"},
}

// notInNone are attacks that would harm the machine where nothing holds them
// back.
var notInNone = map[string]bool{"signals": true, "signals to every thread": true, "System V objects": true, "other processes' attributes": true}

func TestAttacks(t *testing.T) { eachMode(t, testAttacks) }

func testAttacks(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	h := newHost(t)
	s := open(t, &sandbox.Options{Require: mode, Limits: sandbox.Limits{Memory: 1 << 30, FileSize: 64 << 20}})
	check(t, s.Show(h.shown(t, s)))
	bites, ran := 0, 0
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			if mode == sandbox.None && notInNone[a.name] {
				t.Skip("it would harm the machine where nothing holds it back")
			}
			if strings.HasPrefix(a.name, "signals") && s.Report().Signals != codeinterp.ReachBlocked {
				t.Skip("this kernel's Landlock knows nothing of signals, and Describe says so")
			}
			got, through := a.run(t, s, h)
			if a.wants != "" && !strings.Contains(got.out, a.wants) || got.exit.Killed {
				t.Errorf("does not work: %+v", got)
			}
			ran++
			if mode == sandbox.None {
				if through != "" && !strings.HasPrefix(through, "Traceback") {
					bites++
				}
				h.repair(t)
			}
			judge(t, mode, through != "", through, a.why(mode))
		})
	}
	if mode == sandbox.None && ran > 15 {
		await(func() bool { return h.hits.Load() >= 4 })
	}
	time.Sleep(50 * time.Millisecond)
	switch n := h.hits.Load(); {
	case mode != sandbox.None && n > 0:
		t.Errorf("%d connections or packets arrived at the host", n)
	case mode == sandbox.None && ran > 15 && (bites < 6 || n < 4):
		t.Errorf("only %d attacks and %d connections succeed without isolation: the attacks are no good", bites, n)
	}
}

// why says why the attack is known to get through in a mode, if it is.
func (a attack) why(mode sandbox.Mode) string {
	if a.name == "set-user-ID files" && mode == sandbox.Landlock && os.Getuid() != 0 {
		return "" // under the host's own uid chmod does nothing
	}
	return a.known[mode]
}

// run runs the attack, and says what of it got through, if anything.
func (a attack) run(t testing.TB, s *sandbox.Sandbox, h *host) (got result, through string) {
	t.Helper()
	before := h.state(t)
	got = runPython(t, s, h, a.code)
	for _, bad := range []string{"REACHED", envSecret, fileSecret, "Traceback"} {
		if strings.Contains(got.out, bad) {
			return got, bad + " in " + got.out
		}
	}
	if after := h.state(t); after != before {
		return got, "the host has changed: " + got.out + "\n" + before + "\n" + after
	}
	return got, ""
}

// runPython runs a program with the prelude.
func runPython(t testing.TB, s *sandbox.Sandbox, h *host, code string) result {
	t.Helper()
	dir, err := s.TempDir()
	check(t, err)
	defer sandbox.RemoveAll(dir)
	cmd := sandbox.Cmd{
		Path: python, Args: []string{"python3", "-I", "-u", "-"}, Workdir: dir,
		Env: s.Env(dir, nil, map[string]string{"H": h.json()}),
	}
	if shown := h.shown(t, s); shown != nil && s.Reachable(shown[0]) == nil {
		cmd.ReadOnly = shown
	}
	return run(t, s, cmd, prelude+code+"\n")
}

// state describes everything of the host that attacks try to change.
func (h *host) state(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range []string{h.Dir, h.Closed, h.Shown, "/tmp", "/var/tmp", "/dev/shm", "/", "/etc", "/usr", "/usr/local/bin", "/dev", "/run"} {
		if _, err := os.Lstat(filepath.Join(dir, h.Mark)); err == nil {
			b.WriteString("created in " + dir + "\n")
		}
	}
	list, err := os.ReadDir(h.Dir)
	check(t, err)
	for _, e := range list {
		var st unix.Stat_t
		check(t, unix.Lstat(filepath.Join(h.Dir, e.Name()), &st))
		x, _ := unix.Llistxattr(filepath.Join(h.Dir, e.Name()), nil)
		b.WriteString(sprint(e.Name(), st.Mode, st.Uid, st.Gid, st.Size, st.Mtim, st.Nlink, x))
	}
	var lim unix.Rlimit
	check(t, unix.Prlimit(h.Victim, unix.RLIMIT_NOFILE, nil, &lim))
	prio, _ := unix.Getpriority(unix.PRIO_PROCESS, h.Victim)
	var cpus unix.CPUSet
	check(t, unix.SchedGetaffinity(h.Victim, &cpus))
	attr, err := unix.SchedGetAttr(h.Victim, 0)
	check(t, err)
	ioprio, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(h.Victim), 0)
	b.WriteString(sprint("victim", lim, prio, cpus.Count(), attr.Policy, ioprio))
	for _, name := range []string{"shm", "sem", "msg"} {
		ipc, _ := os.ReadFile("/proc/sysvipc/" + name)
		b.WriteString(sprint(name, strings.Count(string(ipc), "\n")))
	}
	select {
	case <-h.dead:
		b.WriteString("victim dead\n")
	default:
	}
	return b.String()
}

// repair undoes what attacks do where nothing holds them back.
func (h *host) repair(t testing.TB) {
	_ = os.Chmod(h.Dir, 0o777)
	_ = os.WriteFile(h.Mine, []byte("mine"), 0o666)
	_ = os.Chmod(h.Mine, 0o666)
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		_ = os.Remove(filepath.Join(dir, h.Mark))
	}
}

// numbers are those of the system calls that attacks make.
var numbers = map[string]int{
	"ACCT": unix.SYS_ACCT, "ADD_KEY": unix.SYS_ADD_KEY, "ADJTIMEX": unix.SYS_ADJTIMEX, "BPF": unix.SYS_BPF, "CHROOT": unix.SYS_CHROOT,
	"CLOCK_SETTIME": unix.SYS_CLOCK_SETTIME, "CLONE": unix.SYS_CLONE, "CLONE3": unix.SYS_CLONE3, "FANOTIFY_INIT": unix.SYS_FANOTIFY_INIT,
	"FCHMODAT2": unix.SYS_FCHMODAT2, "FINIT_MODULE": unix.SYS_FINIT_MODULE, "FSOPEN": unix.SYS_FSOPEN, "GET_ROBUST_LIST": unix.SYS_GET_ROBUST_LIST,
	"INIT_MODULE": unix.SYS_INIT_MODULE, "IOPRIO_SET": unix.SYS_IOPRIO_SET, "IO_URING_ENTER": unix.SYS_IO_URING_ENTER,
	"IO_URING_SETUP": unix.SYS_IO_URING_SETUP, "KCMP": unix.SYS_KCMP, "KEXEC_LOAD": unix.SYS_KEXEC_LOAD, "KEYCTL": unix.SYS_KEYCTL,
	"KILL": unix.SYS_KILL, "MEMFD_SECRET": unix.SYS_MEMFD_SECRET, "MIGRATE_PAGES": unix.SYS_MIGRATE_PAGES, "MOUNT": unix.SYS_MOUNT,
	"MOUNT_SETATTR": unix.SYS_MOUNT_SETATTR, "MOVE_MOUNT": unix.SYS_MOVE_MOUNT, "MOVE_PAGES": unix.SYS_MOVE_PAGES, "MQ_OPEN": unix.SYS_MQ_OPEN,
	"MSGGET": unix.SYS_MSGGET, "NAME_TO_HANDLE_AT": unix.SYS_NAME_TO_HANDLE_AT, "OPEN_BY_HANDLE_AT": unix.SYS_OPEN_BY_HANDLE_AT,
	"OPEN_TREE": unix.SYS_OPEN_TREE, "PERF_EVENT_OPEN": unix.SYS_PERF_EVENT_OPEN, "PERSONALITY": unix.SYS_PERSONALITY,
	"PIDFD_GETFD": unix.SYS_PIDFD_GETFD, "PIDFD_OPEN": unix.SYS_PIDFD_OPEN, "PIDFD_SEND_SIGNAL": unix.SYS_PIDFD_SEND_SIGNAL,
	"PIVOT_ROOT": unix.SYS_PIVOT_ROOT, "PRLIMIT64": unix.SYS_PRLIMIT64, "PROCESS_MADVISE": unix.SYS_PROCESS_MADVISE,
	"PROCESS_VM_READV": unix.SYS_PROCESS_VM_READV, "PROCESS_VM_WRITEV": unix.SYS_PROCESS_VM_WRITEV, "PTRACE": unix.SYS_PTRACE,
	"QUOTACTL": unix.SYS_QUOTACTL, "REBOOT": unix.SYS_REBOOT, "REQUEST_KEY": unix.SYS_REQUEST_KEY, "RT_SIGQUEUEINFO": unix.SYS_RT_SIGQUEUEINFO,
	"SECCOMP": unix.SYS_SECCOMP, "SEMGET": unix.SYS_SEMGET, "SETHOSTNAME": unix.SYS_SETHOSTNAME, "SETNS": unix.SYS_SETNS,
	"SETPRIORITY": unix.SYS_SETPRIORITY, "SETSID": unix.SYS_SETSID, "SHMGET": unix.SYS_SHMGET, "SWAPOFF": unix.SYS_SWAPOFF, "SWAPON": unix.SYS_SWAPON,
	"SYSLOG": unix.SYS_SYSLOG, "TGKILL": unix.SYS_TGKILL, "TKILL": unix.SYS_TKILL, "UMOUNT2": unix.SYS_UMOUNT2, "UNSHARE": unix.SYS_UNSHARE,
	"USERFAULTFD": unix.SYS_USERFAULTFD, "VHANGUP": unix.SYS_VHANGUP,
}
