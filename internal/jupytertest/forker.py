"""Starts kernels for the tests' servers by forking a process that has imported
ipykernel, which costs a fifth of what a new interpreter does.

    forker.py SOCKET

A kernelspec starts stub.py in place of a kernel. It sends its environment,
directory, arguments and standard streams, passes on signals, and ends as the
kernel does; the kernel ends when its stub does. The kernel's process id is in
SOCKET.PID, of the stub, for servers that interrupt it themselves: what a stub
passes on comes late on a busy machine, and hits the next program.
"""

import contextlib, ctypes, gc, importlib, json, os, select, signal, socket, sys

import ipykernel.ipkernel, ipykernel.kernelapp

# What a kernel imports once it runs, in versions that have it.
LATER = ("ipykernel.debugger", "sqlite3", "pdb", "IPython.core.debugger", "IPython.core.debugger_backport", "IPython.core.oinspect",
         "IPython.utils.wildcard", "IPython.core.completerlib", "IPython.core.logger",
         "IPython.extensions.storemagic", "tornado.platform.asyncio", "faulthandler", "encodings.idna")

KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG

PATIENCE = 10  # seconds, for one stub: the others wait meanwhile


class Forker:
    def __init__(self, path):
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path + ".new")
        self.listener.listen(128)
        os.rename(path + ".new", path)
        self.poll = select.poll()
        self.poll.register(self.listener, select.POLLIN)
        self.stubs = {}  # by file descriptor: its socket and its kernel
        self.kernels = {}  # by pidfd: the kernel and its stub's descriptor

    def serve(self):
        """Forks on request. Returns in each kernel, with its arguments."""
        while True:
            for fd, _ in self.poll.poll():
                if fd == self.listener.fileno():
                    argv = self.accept()
                    if argv is not None:
                        return argv
                elif fd in self.kernels:
                    self.ended(fd)
                elif fd in self.stubs:
                    self.hear(fd)

    def accept(self):
        conn, _ = self.listener.accept()
        conn.settimeout(PATIENCE)
        fds = []
        try:
            request, parent, pid = self.request(conn, fds), os.getpid(), os.fork()
        except (EOFError, OSError, ValueError) as e:  # all kernels would end with this process
            if not isinstance(e, EOFError):
                print("no kernel:", repr(e), file=sys.stderr, flush=True)
            for fd in fds:
                os.close(fd)
            conn.close()
            return None
        if pid == 0:
            return self.become(request, fds, parent)
        path = f"{self.path}.{request['stub']}"
        with open(path, "w") as f:
            f.write(str(pid))
        for fd in fds:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        # The stub by its socket: the number of one that has left is soon another's.
        self.kernels[pidfd], self.stubs[conn.fileno()] = (pid, conn, path), (conn, pid)
        self.poll.register(pidfd, select.POLLIN)
        self.poll.register(conn, select.POLLIN)
        return None

    def request(self, conn, fds):
        data = b""
        while not data.endswith(b"\n"):
            piece, some, _, _ = socket.recv_fds(conn, 1 << 20, 3)
            fds += some
            if not piece:
                raise EOFError
            data += piece
        return json.loads(data)

    def become(self, request, fds, parent):
        os.setsid()
        ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)
        self.listener.close()
        for conn, _ in self.stubs.values():
            conn.close()
        for pidfd in self.kernels:
            os.close(pidfd)
        for i, fd in enumerate(fds):
            os.dup2(fd, i)
            os.close(fd)
        os.environ.clear()
        os.environ.update(request["env"], JPY_PARENT_PID=str(parent))
        os.chdir(request["cwd"])
        return request["argv"]

    def ended(self, pidfd):
        pid, conn, path = self.kernels.pop(pidfd)
        self.poll.unregister(pidfd)
        os.close(pidfd)
        with contextlib.suppress(OSError):
            os.unlink(path)  # another stub may get its number
        _, status = os.waitpid(pid, 0)
        fd = conn.fileno()
        if fd in self.stubs:  # else it is closed, and -1
            self.stubs.pop(fd)
            self.poll.unregister(fd)
            try:
                conn.send(b"%d" % os.waitstatus_to_exitcode(status))
            except OSError:
                pass
            conn.close()

    def hear(self, fd):
        conn, pid = self.stubs[fd]
        try:
            signals = conn.recv(64)
        except OSError:
            signals = b""
        if not signals:
            self.stubs.pop(fd)
            self.poll.unregister(fd)
            conn.close()
        for number in signals or bytes([signal.SIGKILL]):
            for kill in (os.killpg, os.kill):
                try:
                    kill(pid, number)
                    break
                except ProcessLookupError:
                    pass


sys.path.pop(0)
for name in LATER:
    try:
        importlib.import_module(name)
    except Exception:
        pass
gc.freeze()
# Without jedi, which takes seconds to load for the first completion of a kernel.
sys.argv = Forker(sys.argv[1]).serve() + ["--IPCompleter.use_jedi=False"]
ipykernel.kernelapp.launch_new_instance()
