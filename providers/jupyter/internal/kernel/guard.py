# The process between a kernel and one command. It has what the command started
# end with it, and with the kernel, whose death it sees as the end of its orders.
# An order is one byte, a signal's number.

import ctypes, fcntl, json, os, select, signal, sys, termios, time

SUBREAPER, DEATHSIG = 36, 1  # of prctl
PATIENCE = 5.0


def control(option, value):
    """Calls prctl where there is one: only Linux has it."""
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (AttributeError, OSError):
        pass


def parents():
    """The parent of each process, None if unknown."""
    found = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return None
    for name in names:
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as f:
                    found[int(name)] = int(f.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                pass
    return found or None


class Guard:
    def __init__(self, shell, arguments):
        self.code = self.killer = None
        self.child = os.fork()
        if self.child == 0:
            try:
                self.become(shell, arguments)
            finally:
                os._exit(126)

    def become(self, shell, arguments):
        control(DEATHSIG, signal.SIGKILL)
        os.setsid()
        if terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.dup2(script, 3)
        os.set_inheritable(3, True)
        os.execv(shell, arguments)

    def all(self):
        """The processes that the command started, those that left it included. Each
        comes before its children: a shell that outlives what it waits for goes on."""
        of = parents()
        if of is None:
            return []
        found, new = {}, {os.getpid()}
        while new:
            new = {pid for pid, parent in of.items() if parent in new and pid not in found}
            found.update(dict.fromkeys(new))
        return list(found)

    def send(self, number):
        found = self.all()
        if not found and self.code is None and self.killer is None:
            try:
                os.killpg(self.child, number)
            except OSError:
                pass
        for pid in found:
            try:
                os.kill(pid, number)
            except OSError:
                pass

    def reap(self):
        """Reports whether a process is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.child:
                if os.WIFSIGNALED(status):
                    self.code, self.killer = 128 + os.WTERMSIG(status), os.WTERMSIG(status)
                else:
                    self.code, self.killer = os.WEXITSTATUS(status), 0

    def follow(self, orders, woken):
        """Passes signals on until the command has ended, or has to."""
        while True:
            ready = select.select([orders, woken], [], [])[0]
            if woken in ready:
                os.read(woken, 4096)
            self.reap()
            if self.code is not None:
                return
            if orders in ready:
                numbers = os.read(orders, 64)
                if not numbers:
                    return
                for number in numbers:
                    self.send(number)

    def end(self):
        """Kills what there is, and reports whether nothing is left."""
        deadline, pause = time.monotonic() + PATIENCE, 0.001
        while True:
            if not self.reap():
                return True
            if time.monotonic() > deadline:
                return False
            # What stands still starts nothing while the others are killed.
            self.send(signal.SIGSTOP)
            self.send(signal.SIGKILL)
            time.sleep(pause)
            pause = min(2 * pause, 0.1)


orders, status, script = map(int, sys.argv[1:4])
for fd in (orders, status, script):
    os.set_inheritable(fd, False)
control(SUBREAPER, 1)
woken, wake = os.pipe()
os.set_blocking(wake, False)
# Without a handler of Python's no byte is written to wake.
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
terminal = os.isatty(0)
guard = Guard(sys.argv[4], sys.argv[5:])
# The command has the pipes; while they were open here too, they would not end with it. A
# terminal is kept: it would end whenever the command has it closed.
if not terminal:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
os.close(script)
guard.follow(orders, woken)
whole = guard.end()
os.write(status, json.dumps({"code": guard.code, "signal": guard.killer, "left": not whole}).encode())
