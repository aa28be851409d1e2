# Standard streams, the environment, and the output of what earlier runs left behind.


plain_input = builtins.input


def no_input(prompt='', /):
    """Reads a line from standard input, or fails where the run was given none."""
    if state.stdin or sys.__dict__.get('stdin') is not state.given:
        return plain_input(prompt)
    sys.stdout.write(str(prompt))
    raise EOFError('there is no standard input: this run was given none')


no_input.__name__ = no_input.__qualname__ = 'input'
no_input.__module__ = 'builtins'


def stream(fd, name, errors):
    raw = io.FileIO(fd, 'w', closefd=False)
    out = io.TextIOWrapper(io.BufferedWriter(raw, 1 << 16), encoding='utf-8', errors=errors, newline='\n', write_through=False, line_buffering=True)
    out.mode = 'w'
    raw.name = name
    return out


def open_streams():
    """Opens standard output and error, which a forked process does again: what they
    know of their descriptors is the server's."""
    global stdout, stderr
    stdout, stderr = stream(1, '<stdout>', 'surrogateescape'), stream(2, '<stderr>', 'backslashreplace')
    sys.stdout = sys.__stdout__ = stdout
    sys.stderr = sys.__stderr__ = stderr


def flush():
    out, err = sys.__dict__.get('stdout'), sys.__dict__.get('stderr')  # a program can delete them
    for s in (stdout, stderr) if out is stdout and err is stderr else (out, err, stdout, stderr):
        try:
            s.flush()
        except Exception:
            pass


def has_c_code():
    """Tells whether C code may have written that is not Python's own."""
    if state.modules != len(modules):
        state.modules = len(modules)
        state.c_code = state.c_code or '_ctypes' in modules or '_cffi_backend' in modules or any(
            str(getattr(m, '__file__', '')).endswith('.so') and 'lib-dynload' not in m.__file__ for m in list(modules.values()) if type(m) is type(sys))
    return state.c_code


def flush_c():
    """Flushes what C code has in the buffers of its own streams."""
    if has_c_code():
        try:
            ctypes = own_import('_ctypes')
            ctypes.call_function(ctypes.dlsym(ctypes.dlopen(None, 0), 'fflush'), (None,))
        except Exception:
            pass


def become_stdin(fd):
    if fd:
        os.dup2(fd, 0)
        os.close(fd)
    else:  # a program had closed it, as open(0) does
        os.set_inheritable(0, True)


def stdin_of():
    try:
        raw = io.FileIO(0, closefd=False)
    except OSError:  # a program had closed it
        become_stdin(os.open('/dev/null', os.O_RDONLY))
        raw = io.FileIO(0, closefd=False)
    raw.name = '<stdin>'
    return io.TextIOWrapper(io.BufferedReader(raw), encoding='utf-8', errors='surrogateescape')


def set_stdin(path):
    """Gives the run its standard input. What a program has put in the place of
    sys.stdin stays there, except in runs that are given some."""
    now = sys.__dict__.get('stdin', state.given)
    if not path and not state.stdin and now is state.given and not now.closed:
        return  # it is as empty as before
    own = state.aside if now is state.given else now
    if path:
        fd = os.open(path, os.O_RDONLY)
        os.unlink(path)
        become_stdin(fd)
    elif state.stdin:
        become_stdin(os.open('/dev/null', os.O_RDONLY))
    given = stdin_of()
    state.stdin, state.given = bool(path), given
    sys.__stdin__ = given  # programs return to it
    sys.stdin = given if path or own is None else own
    state.aside = own if path else None


def set_env(pairs):
    """Sets variables, and returns what they were before."""
    old = [(k, environb.get(k)) for k in pairs[::2]]
    restore_env(zip(pairs[::2], pairs[1::2]))
    return old


def restore_env(old):
    for k, v in old:
        if v is None:
            environb.pop(k, None)
        else:
            environb[k] = v
        if k == b'TZ' and hasattr(own_import('time'), 'tzset'):  # the C library looks at it only when asked to
            modules['time'].tzset()


# What a thread or task of an earlier run prints is late. A run's output is open from
# route to send_last, both the main thread's. Other threads print with turn held, as
# send_last does from the last flush to the end of the run.

turn = RLock()


def mark_streams():
    """Looks at what passes from the text of the streams to their bytes."""
    for name, s in ('stdout', stdout), ('stderr', stderr):
        s.buffer.write = marked(name, s.buffer.write)


def marked(name, write_own):
    def write(data):
        if occupied():
            return write_own(data)
        with turn:
            if not is_late():
                return write_own(data)
        send_late(name, data if isinstance(data, str) else bytes(data))
        return len(data)

    return write


def send_late(name, data):
    """Sends late output. In a run it comes behind what was printed before and ahead of
    what is printed next. In an exchange of the same thread it goes with the next frame."""
    for i in range(0, len(data), MAX_LATE // 4):
        part = data[i:i + MAX_LATE // 4]
        if occupied():
            pending_frames.append(frame_of(b'L', (name, part)))
        elif state.busy and getpid() == pid:
            with hold:
                flush_own()
                acknowledged(b'L', name, part)
        else:
            send(b'L', name, part)


def flush_own():
    for s in stdout, stderr:
        try:
            s.flush()
        except Exception:
            pass


def route():
    """Opens the output of the run that begins. Where threads or tasks of earlier runs
    are alive, each text that is written is looked at."""
    state.old = set(current_frames()) - {state.thread}
    routed = bool(state.old) or has_tasks()
    flush_own()  # parts of lines of before
    for name, s in ('stdout', stdout), ('stderr', stderr):
        s.__dict__.pop('write', None)
        if routed:
            s.write = marked(name, s.write)
    state.open = True


def send_last(kind, *fields):
    """Sends the end of the run, and closes its output."""
    data = frame_of(kind, fields)
    with hold, turn:
        flush_own()
        state.open = False
        send_held(data)


def has_tasks():
    asyncio = modules.get('asyncio')
    return bool(asyncio and state.loop is not None and not state.loop.is_closed() and asyncio.all_tasks(state.loop))


class One:
    """Stands for a ContextVar where there is one run."""

    def get(self):
        return None


run_of = One()  # the number of the run that a task, a thread or the work of a pool belongs to


def number_runs():
    global run_of
    run_of = own_import('_contextvars').ContextVar('run_of', default=None)


def is_left():
    """Tells whether what runs here was left behind by an earlier run. A thread of C
    code belongs to no run: it is late if it was there before."""
    seq = run_of.get()
    return get_ident() in state.old if seq is None else seq != state.seq


def is_late():
    if not state.open:
        return True
    if get_ident() != state.thread:
        return is_left()
    return state.loop is not None and state.loop.is_running() and run_of.get() not in (None, state.seq)
