# Standard streams and the environment. This follows imports.py in one source.

import codecs
issubclass_, FileIO, TextIOWrapper = issubclass, io.FileIO, io.TextIOWrapper
BufferedReader, BufferedRandom, Codec, StreamReader = io.BufferedReader, io.BufferedRandom, codecs.Codec, codecs.StreamReader


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


def flush():
    """Flushes the output. Handlers of the program's run after it: what they
    raise is no fault of a stream's."""
    main, before = get_ident() == state.thread, state.flushing
    if main:
        state.flushing = True
    try:
        out, err = sys.__dict__.get('stdout'), sys.__dict__.get('stderr')  # a program can delete them
        for s in (stdout, stderr) if out is stdout and err is stderr else (out, err, stdout, stderr):
            try:
                s.flush()
            except Exception:
                pass
    finally:
        if main:
            state.flushing = before
            if pending_signals and not before and state.mode == FREE:
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


def become_stdin(fd):
    if fd:
        os.dup2(fd, 0)
        os.close(fd)
    else:  # a program had closed it, as open(0) does
        os.set_inheritable(0, True)


def set_stdin(path):
    """Gives the run its standard input. What the program has put in the place of
    sys.stdin stays there, except in runs that are given some."""
    now = sys.__dict__.get('stdin', state.given)
    state.input = now, state.given  # input takes no reference to it, and another thread may be in its midst
    own = state.aside if now is state.given or reads_stdin(now) else (now,)
    if path:
        fd = os.open(path, os.O_RDONLY)
        os.unlink(path)
        become_stdin(fd)
        given = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding='utf-8', errors='surrogateescape')
    else:
        if state.stdin:
            become_stdin(os.open('/dev/null', os.O_RDONLY))
        given = NoInput()
    state.stdin, state.given = bool(path), given
    sys.__stdin__ = given  # programs return to it
    sys.stdin = given if path or not own else own[0]
    state.aside = own if path else ()


def reads_stdin(s):
    """Tells whether s reads the standard input of a run that is over, as what wraps
    sys.stdin.buffer does. It calls nothing of the program's, which could end there or
    wait."""
    try:
        for _ in range(8):
            kind = type_(s)
            if kind is NoInput:
                return True
            if issubclass_(kind, FileIO):
                return FileIO.fileno(s) == 0
            if issubclass_(kind, StreamReader):
                s = Codec.__dict__['__dict__'].__get__(s)['stream']
                continue
            for wrapper, name in (TextIOWrapper, 'buffer'), (BufferedReader, 'raw'), (BufferedRandom, 'raw'):
                if issubclass_(kind, wrapper):
                    s = wrapper.__dict__[name].__get__(s)
                    break
            else:
                return False
    except Exception:
        pass
    return False


def set_env(pairs):
    """Sets variables, and returns what they were before."""
    old = []
    for i in range(0, len(pairs), 2):
        k, v = pairs[i], pairs[i + 1]
        old.append((k, environb.get(k)))
        environb[k] = v
        # The C library looks at it only when it is told to.
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
