# The output of what earlier runs of a context left behind.

# A run's output is open from route to send_last, both the main thread's. What
# others print holds turn from the look at whose it is to its end in the pipe, as
# send_last does from the last flush to the end of the run: so a thread's output is
# in the pipe before that, or is sent as late.


class Router(io.TextIOBase):
    """Standard output while threads or tasks of earlier runs live: what they
    print is sent as late, by itself: in the stream's buffer are parts of lines of
    the run's own."""

    encoding = 'utf-8'

    def __init__(self, own, name):
        self.own, self.label = own, name

    def write(self, s):
        if get_ident() == state.thread or occupied():
            if not is_late():
                return self.own.write(s)
        else:
            with turn:
                if not is_late():
                    return self.own.write(s)
        if isinstance_(s, str):
            send_text_late(self.label, s)
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


# print takes no reference to sys.stdout: what has been that must not go away, or
# the process dies.
routers = ('stdout', stdout, Router(stdout, 'stdout')), ('stderr', stderr, Router(stderr, 'stderr'))


def mark_streams():
    """Has what passes from the streams' text to their bytes looked at."""
    for name, own, _ in routers:
        try:
            own.buffer.write = marking(own.buffer, name)
        except ValueError:
            pass  # a module that is imported before has taken it away


def marking(buffer, name):
    """Returns what takes the place of a buffer's write: what is not the run's own
    is sent as late."""
    write_own, main = buffer.write, state.thread

    def write(data):
        if get_ident() == main:
            if state.open:
                return write_own(data)
        elif occupied():
            if not is_late():
                return write_own(data)
        else:
            with turn:
                if not is_late():
                    return write_own(data)
        if buffer.closed:
            return write_own(data)  # which fails
        data = bytes(data)
        for i in range(0, len(data), MAX_LATE):
            send_late(name, data[i:i + MAX_LATE])
        return len(data)

    return write


def send_text_late(name, s):
    for i in range(0, len(s), MAX_LATE // 4):
        send_late(name, s[i:i + MAX_LATE // 4])


def send_late(name, data):
    """Sends late output. What a finalizer prints in the midst of an exchange of
    the same thread's goes with the next frame."""
    if occupied():
        pending_frames.append(frame_of(b'L', (name, data)))
    else:
        send(b'L', name, data)


def flush_own():
    for _, own, _ in routers:
        try:
            own.flush()
        except Exception:
            pass


def route():
    """Opens the output of the run that begins. Where threads or tasks of earlier
    runs are alive, it puts Routers in place."""
    state.old = set(current_frames()) - {state.thread}
    routed = bool(state.old) or has_tasks()
    for name, own, router in routers:
        now = sys.__dict__.get(name)
        if now is own or now is router:
            sys.__dict__[name] = router if routed else own
    flush_own()  # parts of lines of before
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


def is_late():
    """Tells whether what runs here was left behind by an earlier run: a thread,
    or a task of the loop that goes on from run to run. Between runs all is."""
    if not state.open:
        return True
    if get_ident() != state.thread:
        return is_left()
    return state.loop is not None and state.loop.is_running() and run_of.get() not in (None, state.seq)
