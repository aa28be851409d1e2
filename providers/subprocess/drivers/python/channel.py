# The control channel. Any thread may send at any time. Only one reads at a time: the
# one that waits for the host and finds no other that reads. It hands the frames of
# others to them, and then the reading to one of them.

sending = allocate_lock()  # one frame at a time
pending_frames = []  # frames that came in an exchange of their thread's; they go with the next one
gate = allocate_lock()  # guards waiting, inbox and reading
waiting = {}  # who waits: the answer's kind and number, or None for the main loop -> Entry
inbox = []  # frames for the main loop that another thread has read
reading = 0  # the thread that reads
loops = {}  # asyncio's loop -> keys of its open calls; used in the loop's thread


def text(v):
    return v if type(v) is bytes else str(v).encode('utf-8', 'backslashreplace')


def frame_of(kind, fields):
    parts = [kind]
    for v in fields:
        if type(v) is not bytes:
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


def send_soon(kind, *fields):
    """Sends a frame together with the next one, which is about to come."""
    data = frame_of(kind, fields)
    if len(data) > MAX_KEPT:
        return send(kind, *fields)
    with hold, sending:
        state.kept += data


def send_held(data):
    """Sends a frame in an exchange."""
    with sending:
        n = len(pending_frames)  # more may come in the meantime
        data = state.kept + b''.join(pending_frames[:n]) + data if n or state.kept else data
        state.kept = b''
        del pending_frames[:n]
        if not state.forked:
            return send_all(data)
        fcntl = own_import('fcntl')  # while no process that was forked from this one sends
        fcntl.lockf(CONTROL, fcntl.LOCK_EX)
        try:
            send_all(data)
        finally:
            fcntl.lockf(CONTROL, fcntl.LOCK_UN)


def send_all(data):
    n = write(CONTROL, data)
    data = memoryview(data)[n:]
    while data:
        data = data[write(CONTROL, data):]


def receive(n):
    return read(CONTROL, n)


def some(n):
    """Reads up to n bytes, as soon as there are any. The end of the channel is that of
    the host, or a program has closed it."""
    try:
        b = receive(n)
    except OSError:
        b = b''
    return b or exit_now(0)


def filled(data, size):
    """Reads what data lacks of its size."""
    parts, n = [data], size - len(data)
    while n > 0:
        b = some(min(n, MAX_READ))
        parts.append(b)
        n -= len(b)
    return b''.join(parts) if len(parts) > 1 else data


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
    """Announces that this thread will wait for a frame: the answer with the key, or,
    for None, one for the main loop."""
    entry = Entry(key)
    with gate:
        if key is None and inbox:
            entry.give(inbox.pop(0))
        else:
            waiting[key] = entry
    return entry


def obtain(entry, soft=False):
    """Waits for the frame that was announced, and returns it. An interrupt ends a soft
    wait of the main thread."""
    global reading
    me, ready = get_ident(), None
    soft = soft and me == state.thread
    try:
        while entry.frame is None:
            with gate:
                if not reading and entry.frame is None:
                    reading = me
                lead = reading == me
            if not lead:
                softly(entry.lock.acquire) if soft else entry.lock.acquire()
                continue
            if entry.key is None and state.loop is not None:
                between_runs()
            if soft:
                ready = ready or new_poller()
                softly(ready)
            receive_all()
    finally:
        with gate:
            waiting.pop(entry.key, None)
        stop_reading()
    return entry.frame


def acknowledged(kind, *fields):
    """Sends a show or late output, in an exchange, and waits until the host has put it in
    its place. Behind the first field comes its number."""
    with gate:
        state.shows += 1
        n = b'%d' % state.shows
    entry = expect(b'A' + n)
    fields = (*fields, n) if kind == b'L' else (fields[0], n, *fields[1:])
    send_held(frame_of(kind, fields))
    obtain(entry)


def distribute(kind, fields):
    if kind in (b'I', b'K'):
        return announce(kind, fields)
    own = kind in (b'A', b'V')
    with gate:
        entry = waiting.pop(kind + fields[0] if own else None, None)
        # An answer that is awaited no more is dropped.
        if entry is None and not own:
            inbox.append((kind, fields))
    if entry is not None:
        entry.give((kind, fields))


def stop_reading():
    """Leaves the reading, where it is this thread's, to another that waits."""
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


def new_poller():
    """Returns what waits until the channel has something to read."""
    channel = own_import('select').poll()
    channel.register(CONTROL, 1)
    return channel.poll


def announce(kind, fields):
    """Notes that the host interrupts the run in progress, or one that has yet to begin, or
    that it has sent the signal: if that came too early to be seen, it comes again."""
    seq = fields[0].decode()
    if kind == b'I':
        state.announced = seq if state.busy or seq != state.seq else ''
    elif state.announced == seq:
        state.announced = ''
        if seq != state.seq:
            state.early = True
            return
        state.confirmed += 1
        # These frames may be read long after the signal: it is the run's signals that
        # count, not those since the announcement.
        if state.interrupts < state.confirmed:
            if not state.running:
                state.confirmed -= 1
            interrupt_main()


def look_for_interrupt():
    """Interrupts the program if the host wanted that before it began: the signal may
    have come too early to be seen."""
    global reading
    if state.early:
        state.early = False
        interrupt_main()
        return
    if not state.signaled and getsignal(SIGINT) is on_interrupt:
        return
    state.signaled = False
    ready = new_poller()
    with gate:
        if reading:
            return  # that thread will read it
        reading = state.thread
    while state.announced or ready(0):
        receive_all()
    stop_reading()


def before_fork():
    sending.acquire()


def after_fork_in_parent():
    state.forked = True
    sending.release()


def after_fork_in_child():
    global turn, sending, gate, reading
    turn, sending, gate, reading = RLock(), allocate_lock(), allocate_lock(), 0
    for of in waiting, loops, held, pending_frames:
        of.clear()
    state.open = True  # what it prints is a child's
    state.forked, state.kept, state.thread = True, b'', get_ident()


os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent, after_in_child=after_fork_in_child)
