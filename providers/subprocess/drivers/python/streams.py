# Standard streams and the environment. This follows imports.py in one source.

class NoInput(io.TextIOBase):
    """Standard input of a run that was given none."""

    encoding, errors, mode, name = 'utf-8', 'strict', 'r', '<stdin>'

    def fileno(self):
        return 0

    def readable(self):
        return True

    def refuse(self, *args):
        raise EOFError('there is no standard input: this run was given none')

    read = readline = readlines = __next__ = refuse


def stream(fd, name, errors):
    raw = io.FileIO(fd, 'w', closefd=False)
    out = io.TextIOWrapper(io.BufferedWriter(raw, 1 << 16), encoding='utf-8', errors=errors, newline='\n', write_through=False, line_buffering=True)
    out.mode = 'w'
    raw.name = name
    return out


class Router(io.TextIOBase):
    """Standard output while threads or tasks of earlier runs live: what they
    print is sent as late."""

    encoding = 'utf-8'

    def __init__(self, own, name):
        self.own, self.label = own, name

    def write(self, s):
        if not is_late():
            return self.own.write(s)
        if isinstance_(s, str):
            for i in range(0, len(s), MAX_LATE // 4):
                send(b'L', self.label, s[i:i + MAX_LATE // 4])
            return len(s)
        raise TypeError('write() argument must be str, not %s' % type_(s).__name__)

    def __getattr__(self, name):
        return getattr(self.own, name)

    def flush(self):
        self.own.flush()

    def fileno(self):
        return self.own.fileno()

    def writable(self):
        return True

    @property
    def buffer(self):
        return self.own.buffer


def flush():
    """Flushes the output. Handlers of the program's run after it: what they
    raise is no fault of a stream's."""
    main, before = get_ident() == state.thread, state.flushing
    if main:
        state.flushing = True
    try:
        own = sys.stdout is stdout and sys.stderr is stderr
        for s in (stdout, stderr) if own else (sys.stdout, sys.stderr, stdout, stderr):
            try:
                s.flush()
            except Exception:
                pass
    finally:
        if main:
            state.flushing = before
            if put_off and not before and state.mode == FREE:
                catch_up()


def has_c_code():
    """Tells whether C code may have written that is not Python's own."""
    if '_ctypes' in modules or '_cffi_backend' in modules:
        return True
    for m in list(modules.values()):
        file = type_(m) is type_(sys) and m.__dict__.get('__file__')
        if type_(file) is str and file.endswith('.so') and 'lib-dynload' not in file:
            return True
    return False


def flush_c():
    """Flushes what C code has in the buffers of its own streams."""
    if has_c_code():
        try:
            import _ctypes
            _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(None, 0), 'fflush'), (None,))
        except Exception:
            pass


def route():
    """Puts Routers in place where threads or tasks of earlier runs are alive."""
    if type_(sys.stdout) is Router:
        sys.stdout = sys.stdout.own
    if type_(sys.stderr) is Router:
        sys.stderr = sys.stderr.own
    threads = {ident: thread_object(ident) for ident in current_frames() if ident != state.thread}
    state.old = threads
    if threads or has_tasks():
        sys.stdout, sys.stderr = Router(sys.stdout, 'stdout'), Router(sys.stderr, 'stderr')


def thread_object(ident):
    threading = modules.get('threading')
    return threading and threading._active.get(ident)


def has_tasks():
    asyncio = modules.get('asyncio')
    return bool(asyncio and state.loop is not None and not state.loop.is_closed() and asyncio.all_tasks(state.loop))


def is_late():
    """Tells whether what runs here was left behind by an earlier run: a thread,
    or a task of the loop that goes on from run to run."""
    if get_ident() != state.thread:
        return is_old()
    return state.loop is not None and state.loop.is_running() and run_of.get() not in (None, state.seq)


def is_old():
    """Tells whether this thread is one of an earlier run's, or was started by
    one. Its number alone does not say: it is given again once a thread has
    ended."""
    ident = get_ident()
    if started.get(ident, state.seq) != state.seq:
        return True
    return ident in state.old and state.old[ident] is thread_object(ident)


def become_stdin(fd):
    if fd:
        os.dup2(fd, 0)
        os.close(fd)
    else:  # a program had closed it, as open(0) does
        os.set_inheritable(0, True)


def set_stdin(path):
    if path:
        fd = os.open(path, os.O_RDONLY)
        os.unlink(path)
        become_stdin(fd)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding='utf-8', errors='surrogateescape')
        state.stdin = True
        return
    if state.stdin:
        become_stdin(os.open('/dev/null', os.O_RDONLY))
        state.stdin = False
    sys.stdin = NoInput()


def set_env(pairs):
    """Sets variables, and returns what they were before."""
    old = []
    for i in range(0, len(pairs), 2):
        k, v = pairs[i], pairs[i + 1]
        old.append((k, environb.get(k)))
        environb[k] = v
        if k == b'TZ':
            import time
            time.tzset()
    return old


def restore_env(old):
    for k, v in old:
        if v is None:
            environb.pop(k, None)
        else:
            environb[k] = v
        if k == b'TZ':
            import time
            time.tzset()
