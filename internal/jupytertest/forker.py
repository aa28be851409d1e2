"""Has a Jupyter server fork its Python kernels from one process that has imported
ipykernel. The server reads this file as its configuration, and runs it as that process,
whose argument is its end of a socket pair.

A kernel becomes a child of the server, which takes in orphans: the server signals it,
waits for it and takes it along as any other.
"""

import ctypes, json, os, signal, socket, subprocess, sys, threading, time

ADOPT_ORPHANS, KILL_WITH_PARENT = 36, 1  # of prctl

# What a kernel imports once it runs, in versions that have it.
LATER = ("ipykernel.debugger", "sqlite3", "pdb", "IPython.core.debugger", "IPython.core.debugger_backport", "IPython.core.oinspect",
         "IPython.utils.wildcard", "IPython.core.completerlib", "IPython.core.logger",
         "IPython.extensions.storemagic", "tornado.platform.asyncio", "faulthandler", "encodings.idna")


class Kernel(subprocess.Popen):
    """What Popen returns, of a process that is there."""

    def __init__(self, pid):
        self.pid, self.returncode, self.args = pid, None, []
        self.stdin = self.stdout = self.stderr = None
        self._child_created, self._waitpid_lock, self._sigint_wait_secs = False, threading.Lock(), 0.25


def configure(c):
    from jupyter_client.provisioning import local_provisioner

    c.KernelRestarter.time_to_dead = 0.5  # it looks for dead kernels more often than every three seconds
    if hasattr(local_provisioner, "forker"):
        return  # each extension of a server reads its configuration
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    conn, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    subprocess.Popen([sys.executable, __file__, str(far.fileno())], pass_fds=[far.fileno()])
    far.close()
    local_provisioner.forker, plain = conn, local_provisioner.launch_kernel

    def launch_kernel(cmd, env=None, cwd=None, **kwargs):
        if "ipykernel_launcher" not in cmd:
            return plain(cmd, env=env, cwd=cwd, **kwargs)
        env = dict(env or os.environ, JPY_PARENT_PID=str(os.getpid()))
        conn.send(json.dumps({"server": os.getpid(), "argv": cmd[2:], "env": env, "cwd": cwd or "."}).encode())
        return Kernel(int(conn.recv(16)))

    local_provisioner.launch_kernel = launch_kernel


def serve(conn):
    """Forks on request. Returns in each kernel."""
    while True:
        request = conn.recv(1 << 20)
        if not request:
            sys.exit()
        if os.fork() == 0:
            if os.fork() == 0:
                return become(conn, **json.loads(request))
            os._exit(0)
        os.wait()


def become(conn, server, argv, env, cwd):
    os.setsid()
    while os.getppid() != server:  # it is an orphan in a moment
        time.sleep(0.001)
    ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    conn.send(str(os.getpid()).encode())
    conn.close()
    # Without jedi, which takes seconds to load for the first completion of a kernel.
    sys.argv = argv + ["--IPCompleter.use_jedi=False"]


if "get_config" in globals():
    configure(get_config())
else:
    import contextlib, gc, importlib

    import ipykernel.kernelapp

    sys.path.pop(0)
    for name in LATER:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
    ipykernel.kernelapp.launch_new_instance()
