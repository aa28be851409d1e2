# Forking, between runs, for each F frame: a context copies itself, and a fork server makes
# drivers. P says the pid, 0 if it failed. This follows run.py in one source.

import _socket

channel = _socket.socket(fileno=CONTROL)
given = []  # descriptors that came with frames


def receive(n):
    data, rights, _, _ = channel.recvmsg(n, 256, _socket.MSG_CMSG_CLOEXEC)
    for _, _, b in rights:
        given.extend(memoryview(b).cast('i'))
    return data


def identity(fd):
    about = os.fstat(fd)
    return about.st_dev, about.st_ino


own = [identity(fd) for fd in (1, 2, CONTROL)]


def copy_context(number, group, place, old, *_):
    fds, forked, failed = given[:], state.forked, True
    given.clear()
    try:
        flush()
        child, failed = os.fork(), False
        if child == 0:
            start_copy(number, int(group), os.fsdecode(place), os.fsdecode(old), fds)
            return
        failed = os.waitpid(child, 0)[1] != 0
    except OSError:
        pass  # it cannot fork, or the program has its children reaped by themselves
    except BaseException as e:  # of a handler of a signal
        report_late(e)
    state.forked = forked  # the copy has a channel of its own
    for fd in fds:
        os.close(fd)
    if failed:
        send(b'P', 0, number)


def start_copy(number, group, place, old, fds):
    """Forks once more, and ends: the copy is no child of the program's."""
    try:
        child = os.fork()
        if child == 0:
            settle(group, place, old, fds)
            return
        send(b'P', child, number)
        exit_now(0)
    except BaseException as e:
        write(2, ('the copy: %s\n' % (e,)).encode())
        exit_now(126)


def settle(group, place, old, fds):
    """Makes a copy a context of its own."""
    global pid, own
    pid = getpid()
    os.setpgid(pid, group)
    if os.getpgrp() != group:
        exit_now(126)  # the host waits for it no longer
    _signal.set_wakeup_fd(-1)
    state.forked = state.open = False
    inbox.clear()
    found = descriptors()
    for before, new in zip(own, fds):  # the host's, also where the program has more of them
        for fd in found.get(before, ()):
            replace(fd, new)
    own = [identity(fd) for fd in fds]
    for fd in fds:
        os.close(fd)
    if state.loop is not None:
        state.left = state.loop  # it is the original's: closing it would disturb that
        state.loop = None
        modules['asyncio'].set_event_loop(None)

    def moved(path):
        return place + path[len(old):] if isinstance(path, str) and (path + '/').startswith(old + '/') else path

    copy_tree(old, place, found)
    for name, value in list(environ.items()):
        environ[name] = moved(value)
    sys.path[:] = map(moved, sys.path)
    if 'tempfile' in modules:
        modules['tempfile'].tempdir = moved(modules['tempfile'].tempdir)
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = old
    os.chdir(moved(here))
    reseed()
    send(b'H', sys.version.split()[0])


def descriptors():
    """Returns the open descriptors by what they lead to."""
    found, most = {}, own_import('resource').getrlimit(7)[0]  # RLIMIT_NOFILE
    for fd in range(most if 0 < most < 65536 else 65536):
        try:
            found.setdefault(identity(fd), []).append(fd)
        except OSError:
            pass
    return found


def replace(fd, new):
    os.dup2(new, fd, os.get_inheritable(fd))


def copy_tree(old, new, found):
    """Copies files, directories and links. The file system shares what it can; files that
    are open are those of the copy from then on."""
    with os.scandir(old) as entries:
        for e in entries:
            try:
                copy_entry(e, os.path.join(new, e.name), found)
            except FileNotFoundError:
                pass  # what goes on in the original has removed it


def copy_entry(e, to, found):
    about = e.stat(follow_symlinks=False)
    if e.is_symlink():
        os.symlink(os.readlink(e.path), to)
    elif e.is_dir():
        os.mkdir(to, about.st_mode & 0o777 | 0o700)
        copy_tree(e.path, to, found)
    elif e.is_file():
        copy_file(e.path, to, about)
        fcntl = own_import('fcntl')
        for fd in found.get((about.st_dev, about.st_ino), ()):
            again = os.open(to, fcntl.fcntl(fd, fcntl.F_GETFL))
            os.lseek(again, os.lseek(fd, 0, 1), 0)
            replace(fd, again)
            os.close(again)


def copy_file(path, to, about):
    with open(path, 'rb', 0) as a, open(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, about.st_mode & 0o777), 'wb', 0) as b:
        try:
            own_import('fcntl').ioctl(b, 0x40049409, a.fileno())  # FICLONE
        except OSError:
            while os.sendfile(b.fileno(), a.fileno(), None, 1 << 30):
                pass
        os.utime(b.fileno(), ns=(about.st_atime_ns, about.st_mtime_ns))


def reseed():
    """Gives a forked process random numbers of its own; random does so by itself."""
    random = modules.get('numpy.random')
    if random:
        random.seed()
