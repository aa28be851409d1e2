# The control channel. This follows driver.py in one source.
#
# Any thread may send at any time. Only one reads at a time: the one that needs
# something of the host's and finds nobody reading. It hands to the others what
# is theirs, and then the reading to one of them.

turn = RLock()  # the run's number does not change while another thread than the main one prints; before sending
sending = allocate_lock()  # one frame at a time
pending_frames = []  # frames that came in the midst of an exchange of their thread's, which go with the next one
gate = allocate_lock()  # guards waiting, inbox and reading
waiting = {}  # who waits: the answer's kind and number, or None for the main loop -> Entry
inbox = []  # frames for the main loop that another thread has read
reading = 0  # the thread that reads
loops = {}  # asyncio's loop -> keys of its open calls; used in the loop's thread


def text(v):
    return v if type_(v) is bytes else str(v).encode('utf-8', 'backslashreplace')


def frame_of(kind, fields):
    parts = [kind]
    for v in fields:
        if type_(v) is not bytes:
            v = text(v)
        n = len(v)
        if n < MAX_COPIED:
            parts.append(b'%08x%b' % (n, v))
        else:
            parts += b'%08x' % n, v
    parts[0] = b'%08x%b' % (sum(map(len, parts)), kind)
    return b''.join(parts)


def send(kind, *fields):
    data = frame_of(kind, fields)
    with hold:
        send_held(data)


def send_held(data):
    """Sends a frame in the midst of an exchange."""
    with sending:
        if pending_frames:
            n = len(pending_frames)  # of which more come in the meantime
            state.kept += b''.join(pending_frames[:n])
            del pending_frames[:n]
        if state.kept:
            data, state.kept = state.kept + data, b''
        if state.forked:
            send_alone(data)
        else:
            send_all(data)


def send_all(data):
    n = write(CONTROL, data)
    if n == len(data):
        return
    data = memoryview(data)[n:]
    while data:
        data = data[write(CONTROL, data):]


def send_alone(data):
    """Sends while no process that was forked from this one does."""
    import fcntl
    fcntl.lockf(CONTROL, fcntl.LOCK_EX)
    try:
        send_all(data)
    finally:
        fcntl.lockf(CONTROL, fcntl.LOCK_UN)


def some(n):
    """Reads up to n bytes, as soon as there are any."""
    while True:
        try:
            b = read(CONTROL, n)
        except InterruptedError:
            continue
        # The end of the channel is that of the host.
        return b or exit_now(0)


def filled(data, size):
    """Reads what data lacks of its size."""
    if len(data) >= size:
        return data
    parts, n = [data], size - len(data)
    while n > 0:
        b = some(min(n, MAX_READ))
        parts.append(b)
        n -= len(b)
    return b''.join(parts)


def fields_of(data, i, end):
    """Returns the type and the fields of the frame whose body is data[i:end]."""
    kind, fields = data[i:i + 1], []
    i += 1
    while i < end:
        n = int(data[i:i + 8], 16)
        i += 8
        fields.append(data[i:i + n])
        i += n
    return kind, fields


def receive():
    """Reads one frame and no more."""
    body = filled(b'', int(filled(b'', 8), 16))
    return fields_of(body, 0, len(body))


def receive_all():
    """Reads what has come, to the end of a frame, and distributes it."""
    data, i = some(MAX_COPIED), 0
    while i < len(data):
        data = filled(data, i + 8)
        end = i + 8 + int(data[i:i + 8], 16)
        data = filled(data, end)
        distribute(*fields_of(data, i + 8, end))
        i = end


class Entry:
    """A thread that waits for a frame."""

    frame = None

    def __init__(self, key):
        self.key, self.lock, self.thread = key, allocate_lock(), get_ident()
        self.lock.acquire()

    def give(self, frame):
        self.frame = frame
        if self.lock.locked():
            self.lock.release()  # else it has yet to see that it is to read

    def asks(self):
        """Tells whether the thread could read."""
        return self.lock.locked()


def expect(key):
    """Announces that this thread will wait for a frame: the answer with the
    key, or, for None, one for the main loop."""
    entry = Entry(key)
    with gate:
        if key is None and inbox:
            entry.give(inbox.pop(0))
        else:
            waiting[key] = entry
    return entry


def obtain(entry, soft=False):
    """Waits for the frame that was announced, and returns it. A soft wait of
    the main thread ends without one where the program is interrupted, and is
    begun again after a handler of the program's."""
    global reading
    me = get_ident()
    soft = soft and me == state.thread
    try:
        while entry.frame is None and not (soft and state.owed):
            with gate:
                if not reading and entry.frame is None:
                    reading = me
                lead = reading == me
            if not lead:
                softly(entry.lock.acquire) if soft else entry.lock.acquire()
                continue
            if entry.key is None and state.loop is not None:
                between_runs()
            if not soft or softly(poller() if len(outer) == 1 else new_poller()):  # within a handler it is in use
                receive_all()
    finally:
        with gate:
            waiting.pop(entry.key, None)
        stop_reading()
    return entry.frame


def distribute(kind, fields):
    if kind in (b'I', b'K'):
        return announce(kind, fields)
    own = kind in (b'A', b'V')
    with gate:
        entry = waiting.pop(kind + fields[0] if own else None, None)
        # An answer for which nobody waits any more is dropped.
        if entry is None and not own:
            inbox.append((kind, fields))
    if entry is not None:
        entry.give((kind, fields))


def stop_reading():
    """Leaves the reading, where it is this thread's, to another that waits, if
    one does."""
    global reading
    if reading != get_ident():
        return
    with gate:
        reading = 0
        for entry in reversed(waiting.values()):  # a thread's last wait is the one that goes on
            if entry.asks():
                reading = entry.thread
                entry.lock.release()
                return


def before_fork():
    if get_ident() == state.thread:
        outer.append(state.mode)
        state.mode = HELD
    sending.acquire()
    loading.acquire()


def after_fork_in_parent():
    state.forked = True
    loading.release()
    sending.release()
    if get_ident() == state.thread:
        state.mode = outer.pop()
        if state.owed and not state.mode:
            state.owed = False
            interrupt_main()


def after_fork_in_child():
    global turn, sending, gate, loading, reading
    turn, sending, gate, loading, reading = RLock(), allocate_lock(), allocate_lock(), RLock(), 0
    waiting.clear()
    loops.clear()
    outer.clear()
    inside.clear()
    pending_signals.clear()
    pending_frames.clear()
    state.open = True  # what it prints is a child's
    state.forked, state.kept, state.mode, state.thread = True, b'', FREE, get_ident()


os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent, after_in_child=after_fork_in_child)
