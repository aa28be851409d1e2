# The control channel. This follows driver.py in one source.
#
# Any thread may send at any time. Only one reads at a time: the one that needs
# something of the host's and finds nobody reading. It hands to the others what
# is theirs, and then the reading to one of them.

sending = allocate_lock()  # one frame at a time
gate = allocate_lock()  # guards waiting, inbox and reading
waiting = {}  # number of a show, or None for the main loop -> [lock, frame]
inbox = []  # frames for the main loop that another thread has read
reading = False


def text(v):
    return v if type_(v) is bytes else str(v).encode('utf-8', 'backslashreplace')


def send(kind, *fields):
    parts, size = [], 1
    for v in fields:
        v = text(v)
        parts.append(b'%08x' % len(v))
        parts.append(v)
        size += 8 + len(v)
    data = memoryview(b'%08x%s' % (size, kind) + b''.join(parts))
    with hold, sending:
        if state.forked:
            send_alone(data)
        else:
            send_all(data)


def send_all(data):
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


def take(n):
    parts = []
    while n > 0:
        try:
            b = read(CONTROL, n)
        except InterruptedError:
            continue
        if not b:
            exit_now(0)
        parts.append(b)
        n -= len(b)
    return b''.join(parts)


def receive():
    body = take(int(take(8), 16))
    fields, i = [], 1
    while i < len(body):
        n = int(body[i:i + 8], 16)
        fields.append(body[i + 8:i + 8 + n])
        i += 8 + n
    return body[:1], fields


def expect(key):
    """Announces that this thread will wait for a frame: the answer to the show
    with the number, or, for None, one for the main loop."""
    entry = [allocate_lock(), None]
    entry[0].acquire()
    with gate:
        if key is None and inbox:
            entry[1] = inbox.pop(0)
            entry[0].release()
        else:
            waiting[key] = entry
    return entry


def obtain(entry):
    """Waits for the frame that was announced, and returns it."""
    global reading
    with gate:
        lead = entry[1] is None and not reading
        if lead:
            reading = True
    if not lead:
        entry[0].acquire()
        if entry[1] is not None:
            return entry[1]
    while entry[1] is None:
        if entry is waiting.get(None):
            between_runs()
        distribute(*receive())
    stop_reading()
    return entry[1]


def distribute(kind, fields):
    if kind in (b'I', b'K'):
        return announce(kind, fields)
    with gate:
        entry = waiting.pop(fields[0] if kind == b'A' else None, None)
        if entry:
            entry[1] = kind, fields
            entry[0].release()
        elif kind != b'A':
            inbox.append((kind, fields))


def stop_reading():
    """Leaves the reading to another thread that waits, if one does."""
    global reading
    with gate:
        reading = False
        for entry in waiting.values():
            if entry[0].locked():
                reading = True
                entry[0].release()
                return


def announce(kind, fields):
    """Notes that the host interrupts the run in progress, or that it has sent
    the signal: if that came too early to be seen, it comes again."""
    if kind == b'I':
        state.announced = state.interrupts if state.busy and fields[0].decode() == state.seq else -1
    else:
        early = state.announced == state.interrupts
        state.announced = -1
        if early:
            interrupt_main()


def look_for_interrupt():
    """Sees to it that the program is interrupted if the host wanted that before
    it began: the signal may have come too early to be seen."""
    global reading
    if state.poll is None:
        import select
        channel = select.poll()
        channel.register(CONTROL, select.POLLIN)
        state.poll = channel.poll
    with gate:
        if reading:
            return  # whoever reads sees to it
        reading = True
    while state.announced >= 0 or state.poll(0):
        distribute(*receive())
    stop_reading()


def between_runs():
    """Lets asyncio's tasks go on until the host has something to say."""
    loop = state.loop
    try:
        if loop is None or loop.is_closed() or not modules['asyncio'].all_tasks(loop):
            return
        loop.add_reader(CONTROL, loop.stop)
        try:
            state.running = True
            loop.run_forever()
        finally:
            state.running = False
            loop.remove_reader(CONTROL)
    except BaseException:
        pass  # a task's own; asyncio reports what nobody handles


def exchange(*fields):
    """Sends a show of the run in progress and waits until the host has put it
    in its place. Outside of a run, in threads of earlier ones and in forked
    processes nobody waits."""
    with hold:
        if not state.busy or getpid() != pid or is_old():
            send(b'D', '' if is_old() else state.seq, 0, *fields)
            return
        with gate:
            state.shows += 1
            n = str(state.shows).encode()
        entry = expect(n)
        send(b'D', state.seq, n, *fields)
        obtain(entry)


def before_fork():
    if get_ident() == state.thread:
        state.held += 1
    sending.acquire()


def after_fork_in_parent():
    state.forked = True
    sending.release()
    if get_ident() == state.thread:
        state.held -= 1
        if state.owed and not state.held:
            state.owed = False
            interrupt_main()


def after_fork_in_child():
    global sending, gate, reading
    sending, gate, reading = allocate_lock(), allocate_lock(), False
    waiting.clear()
    state.forked, state.held, state.thread = True, 0, get_ident()


os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent, after_in_child=after_fork_in_child)
