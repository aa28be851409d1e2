# One line for each way out: its name, and what came of it. REACHED says that it
# led somewhere.
import fcntl, shutil, subprocess

VICTIM, HOST = H["Victim"], H["Pid"]
buf = ctypes.create_string_buffer(512)


def probe(name, f):
    try:
        r = f()
    except BaseException as e:
        r = type(e).__name__ + " " + str(e)
    print("probe", name, str(r).replace("\n", " ")[:200].replace("\t", " "), sep="\t", flush=True)


def refused(nr, *args):
    ctypes.set_errno(0)
    r = libc.syscall(nr, *args)
    return "REACHED %d" % r if r >= 0 else os.strerror(ctypes.get_errno())


def harmless(nr, *args):
    return refused(nr, *args).lower()


def child(f):
    """Runs f in a process of its own and says how that ended."""
    pid = os.fork()
    if pid == 0:
        try: os._exit(int(f() or 0))
        except BaseException: os._exit(99)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status): return signal.Signals(os.WTERMSIG(status)).name
    return "REACHED" if os.WEXITSTATUS(status) == 1 else "exit %d" % os.WEXITSTATUS(status)


# System calls by the numbers of other interfaces.
if os.uname().machine == "x86_64":
    def int80():
        m = mmap.mmap(-1, 4096, prot=7)
        m.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))() > 0
    probe("interface x32", lambda: child(lambda: libc.syscall(0x40000000 + 39) > 0))
    probe("interface i386", lambda: child(int80))

# System calls that programs do not need. What they are given is nothing
# that would harm the machine where they work.
for name, args in {
    "PTRACE": (0x4206, VICTIM, 0, 0), "PROCESS_VM_READV": (VICTIM, 0, 0, 0, 0, 0), "PROCESS_VM_WRITEV": (VICTIM, 0, 0, 0, 0, 0),
    "PIDFD_GETFD": (3, 0, 0), "KCMP": (os.getpid(), VICTIM, 0, 0, 0), "PROCESS_MADVISE": (3, 0, 0, 0, 0), "MIGRATE_PAGES": (VICTIM, 0, 0, 0),
    "MOVE_PAGES": (VICTIM, 0, 0, 0, 0, 0), "GET_ROBUST_LIST": (VICTIM, buf, buf), "SETNS": (0, 0), "CLONE3": (buf, 64), "MOUNT": (b"none", b"/tmp", b"tmpfs", 0, 0),
    "UMOUNT2": (b"/proc", 2), "OPEN_TREE": (-100, b"/", 1), "FSOPEN": (b"tmpfs", 0), "MOVE_MOUNT": (-100, b"/", -100, b"/", 0),
    "MOUNT_SETATTR": (-100, b"/", 0, buf, 32), "PIVOT_ROOT": (b".", b"."), "CHROOT": (b".",), "BPF": (0, buf, 64), "PERF_EVENT_OPEN": (buf, 0, -1, -1, 0),
    "USERFAULTFD": (1,), "IO_URING_SETUP": (4, buf), "IO_URING_ENTER": (0, 0, 0, 0, 0, 0), "KEYCTL": (0, -3, 0), "ADD_KEY": (b"user", b"x", b"x", 1, -3),
    "REQUEST_KEY": (b"user", b"x", 0, -3), "KEXEC_LOAD": (0, 0, 0, 0), "INIT_MODULE": (0, 0, 0), "FINIT_MODULE": (0, 0, 0), "REBOOT": (0, 0, 0, 0),
    "SWAPON": (b"x", 0), "SWAPOFF": (b"x",), "SYSLOG": (3, buf, 10), "ACCT": (0,), "QUOTACTL": (0, 0, 0, 0), "OPEN_BY_HANDLE_AT": (-100, buf, 0),
    "NAME_TO_HANDLE_AT": (-100, b"/", buf, buf, 0), "FANOTIFY_INIT": (0, 0), "MEMFD_SECRET": (0,), "SETHOSTNAME": (b"x", 1), "CLOCK_SETTIME": (99, buf),
    "VHANGUP": (), "SECCOMP": (1, 8, buf), "USELIB": (b"x",), "MODIFY_LDT": (0, buf, 16), "IOPL": (3,), "IOPERM": (0, 1, 1),
}.items():
    if name in NR: probe("system call " + name, lambda: refused(NR[name], *args))
for name, flag in ("user", 0x10000000), ("mount", 0x20000), ("process", 0x20000000), ("network", 0x40000000), ("time", 0x80), ("control group", 0x2000000):
    probe("new %s namespace" % name, lambda: refused(NR["UNSHARE"], flag))
    if flag != 0x80: probe("clone into a new %s namespace" % name, lambda: child(lambda: libc.syscall(NR["CLONE"], flag | signal.SIGCHLD, 0, 0, 0, 0) == 0))
for name, bits in ("READ_IMPLIES_EXEC", 0x400000), ("ADDR_NO_RANDOMIZE", 0x40000):
    probe("personality " + name, lambda: refused(NR["PERSONALITY"], bits))
probe("open a tree with attributes", lambda: refused(467, -100, b"/", 1, buf, 32))
def namespaces():
    fd = os.pidfd_open(os.getpid())
    got = [i for i in range(1, 11) if libc.ioctl(fd, 0xff00 + i) >= 0]
    return "REACHED" if got and attempt(lambda: refused(NR["SETNS"], 0, 0)) == "REACHED" else "nothing to do with %s" % got
probe("namespaces of a pidfd", namespaces)

# What is one's own may be used.
for name, nr, args in (("lsm_list_modules", 461, (buf, buf, 0)), ("map_shadow_stack", 453, (0, 4096, 0)), ("cachestat", 451, (3, buf, buf, 0)),
                       ("futex_waitv", 449, (buf, 0, 0, 0, 0)), ("landlock_create_ruleset", 444, (0, 0, 1)), ("setxattrat", 463, (-100, b".", 0, b"user.x", buf, 16)),
                       ("file_setattr", 468 + 1, (-100, b".", buf, 24, 0)), ("adjtimex", NR["ADJTIMEX"], (buf,))):
    probe("one's own " + name, lambda: harmless(nr, *args))

# Signals and attributes of the host's processes. The signal is none.
for name, nr, args in (("queued", "RT_SIGQUEUEINFO", (VICTIM, 0, buf)), ("to a thread of a group", "TGKILL", (VICTIM, VICTIM, 0)), ("to a thread", "TKILL", (VICTIM, 0)),
                       ("to a process", "KILL", (VICTIM, 0)), ("to the host", "KILL", (HOST, 0))):
    probe("signal " + name, lambda: refused(NR[nr], *args))
def everybody():
    if libc.kill(-1, 0) != 0: return os.strerror(ctypes.get_errno())
    return "REACHED" if libc.kill(VICTIM, 0) == 0 else "only one's own"
probe("signal to all", everybody)
def group():
    fd = os.pidfd_open(os.getpid())
    r = libc.syscall(NR["PIDFD_SEND_SIGNAL"], fd, 0, None, 4)
    return "REACHED" if r == 0 and libc.kill(VICTIM, 0) == 0 else r
probe("signal to a pidfd's group", group)
probe("pidfd of the host", lambda: "REACHED" if libc.syscall(NR["PIDFD_OPEN"], VICTIM, 0) >= 0 and libc.kill(VICTIM, 0) == 0 else "of no use")
probe("limits of the host", lambda: refused(NR["PRLIMIT64"], VICTIM, 7, 0, buf))
probe("priority of the host", lambda: refused(NR["SETPRIORITY"], 0, VICTIM, 0))
probe("input and output priority of the host", lambda: refused(NR["IOPRIO_SET"], 1, VICTIM, 0))
probe("processors of the host", lambda: os.sched_setaffinity(VICTIM, os.sched_getaffinity(0)) or "REACHED")
probe("session of one's own", lambda: harmless(NR["SETSID"]))

# /proc of the host, of the parent and of the first process.
for who, pid in ("the host", HOST), ("another process", VICTIM):
    for f in "environ", "cmdline", "maps", "mem", "stat", "status":
        probe("/proc: %s of %s" % (f, who), lambda: "REACHED" if os.read(os.open("/proc/%d/%s" % (pid, f), os.O_RDONLY), 1) is not None else "")
    probe("/proc: writing to mem of " + who, lambda: "REACHED %d" % os.open("/proc/%d/mem" % pid, os.O_RDWR))
    for f in "root", "fd", "cwd", "task":
        probe("/proc: %s of %s" % (f, who), lambda: "REACHED" if os.listdir("/proc/%d/%s" % (pid, f)) else "")
for who, pid in ("the parent", os.getppid()), ("the first process", 1):
    probe("/proc: environ of " + who, lambda: "REACHED" if b"HOST_SECRET" in read("/proc/%d/environ" % pid) else "nothing of the host's")
    probe("/proc: files of " + who, lambda: "REACHED" if os.path.exists("/proc/%d/root%s" % (pid, H["Secret"])) or os.path.exists("/proc/%d/root/etc/shadow" % pid) else "none")
probe("/proc: memory of the first process", lambda: "REACHED %d" % os.open("/proc/1/mem", os.O_RDWR))
probe("/proc: numbers of the host's processes", lambda: "REACHED" if {str(HOST), str(VICTIM)} & set(os.listdir("/proc")) else "none")
probe("/proc: mounts of the host", lambda: "REACHED" if H["Dir"].encode() in read("/proc/self/mountinfo") else "none")

# Sockets.
inside = os.path.isdir("/workspace") and os.access("/workspace", os.W_OK)  # with a network of its own
for family in (1, 2, 10, 15, 16, 17, 22, 29, 31, 38, 40, 41, 44, 45):
    def sockets():
        got = []
        for kind in 1, 2, 3, 5:
            try: socket.socket(family, kind).close(); got.append(kind)
            except OSError: pass
        if inside and family in (2, 10): return "of a network of its own: %s" % got
        return "REACHED %s" % got if got else "none"
    probe("sockets of family %d" % family, sockets)
for name, kind, protocol in ("MPTCP", 1, 262), ("SMC", 1, 256), ("UDP-Lite", 2, 136):
    probe("sockets of " + name, lambda: (inside and "of a network of its own" or "REACHED") if socket.socket(2, kind, protocol) else "")
probe("TCP to the host", lambda: "REACHED" if socket.create_connection(("127.0.0.1", H["TCP"]), 2) else "")

# Files.
for f in ("/etc/shadow", "/etc/hostname", "/etc/machine-id", "/root/.bashrc", H["Secret"], "/var/run/docker.sock", "/proc/kallsyms", "/proc/keys", "/proc/kcore",
          "/proc/sys/kernel/core_pattern", "/sys/class/net", "/sys/kernel/security", "/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/console", "/dev/fuse",
          "/dev/kvm", "/dev/userfaultfd", "/dev/net/tun", "/var/lib/dpkg/status", H["Dir"], "/home", "/var/log"):
    def reading():
        if os.path.isdir(f): return "REACHED %s" % os.listdir(f)[:3] if os.listdir(f) else "an empty one"
        got = os.read(os.open(f, os.O_RDONLY | os.O_NONBLOCK), 20)
        return "REACHED" if got else "nothing in it"
    probe("reading " + (f if H["Dir"] not in f else "the host's " + ("files" if f == H["Dir"] else "secret")), reading)
for f in ("/tmp", "/var/tmp", "/dev/shm", "/etc", "/usr", "/usr/local/bin", "/", "/run", "/dev", "/sys/fs/cgroup", H["Dir"]):
    # A /tmp of one's own is no way out: the test looks for the file outside.
    probe("writing to " + (f if f != H["Dir"] else "the host's directory"), lambda: os.close(os.open(os.path.join(f, H["Mark"]), os.O_WRONLY | os.O_CREAT)) or "written")
for f in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/sys/kernel/mm/transparent_hugepage/enabled"):
    probe("writing to " + f, lambda: "REACHED %d" % os.open(f, os.O_WRONLY))
probe("size of the host's secret", lambda: "REACHED %d" % os.stat(H["Secret"]).st_size)
probe("where the host's link leads", lambda: "REACHED" if os.readlink(H["Link"]) else "")
probe("the host's directory as one's own", lambda: os.chdir(H["Dir"]) or ("REACHED" if attempt(os.listdir, ".") else "only as a name"))
os.chdir(os.environ["HOME"])
probe("hard link to the host's secret", lambda: os.link(H["Secret"], "hard") or "REACHED")
probe("lock of a system file", lambda: fcntl.flock(os.open("/usr/lib/os-release", 0), fcntl.LOCK_EX | fcntl.LOCK_NB) or "REACHED")
probe("lease of a system file", lambda: "REACHED" if fcntl.fcntl(os.open("/usr/lib/os-release", 0), 1024, 0) == 0 else "")
for n in "block device", "character device":
    probe(n, lambda: os.mknod("node", 0o060666 if n[0] == "b" else 0o020666, os.makedev(1, 3)) or "REACHED")

# Programs that have more rights than who starts them.
for c in (["su", "-c", "id"], ["sudo", "-n", "id"], ["mount", "-t", "tmpfs", "x", "/mnt"], ["newgrp"], ["chsh", "-s", "/bin/sh"], ["unshare", "-Ur", "id"],
          ["bwrap", "--ro-bind", "/", "/", "id"], ["crontab", "-l"], ["wall", "x"], ["dmesg"]):
    def privileged():
        p = subprocess.run(c, capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
        return "REACHED " + p.stdout.decode(errors="replace") if p.returncode == 0 and p.stdout else p.returncode
    probe("program " + c[0], privileged)
def sees():
    p = subprocess.run(["ps", "-eo", "pid"], capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
    return "REACHED" if str(VICTIM).encode() in p.stdout.split() else p.returncode
probe("program ps", sees)

# What one's own process may do.
probe("groups", lambda: "REACHED %s" % os.getgroups() if set(os.getgroups()) - {os.getgid()} else "none")
probe("greater priority", lambda: os.nice(-5) and "REACHED")
probe("real-time scheduling", lambda: os.sched_setscheduler(0, 1, os.sched_param(1)) or "REACHED")
probe("core files", lambda: "REACHED" if resource.getrlimit(resource.RLIMIT_CORE)[1] else "none")
probe("memory that stays resident", lambda: "REACHED" if resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] not in range(0, 64 << 20) else "a little")
probe("escape from the death signal", lambda: "REACHED" if not inside and libc.prctl(1, 0, 0, 0, 0) == 0 else "refused, or of no use")
probe("process without a parent", lambda: "of no use %d" % libc.prctl(36, 1, 0, 0, 0))
def executed():
    fd = os.memfd_create("x")
    os.write(fd, open("/bin/true", "rb").read())
    return child(lambda: os.execve(fd, ["x"], {}))
probe("program in memory", executed)
probe("end", lambda: "all tried")
