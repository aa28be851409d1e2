# Calls of the host's functions. This follows pytools' source in one source.


def announce_call(name, make):
    """Returns the entry of a call that is about to be sent; make makes it of its key."""
    if getpid() != pid:
        raise ToolError(name, 'functions cannot be called from a forked process: call them from threads, or before the fork')
    with gate:
        if not state.busy or is_left():
            raise ToolError(name, 'the run has ended')
        if len(waiting) >= MAX_CALLS:
            raise ToolError(name, 'more than %d calls at once' % MAX_CALLS)
        state.calls += 1
        key = b'V%d' % state.calls
        entry = waiting[key] = make(key)
        entry.seq = state.seq
    return entry


def check_call(name):
    if occupied():
        raise ToolError(name, 'functions cannot be called here: another call of this thread is on its way')
    if not state.running and get_ident() == state.thread and getpid() == pid:
        raise ToolError(name, 'the run was interrupted' if state.busy and state.signaled else 'the run has ended')


def result(name, frame):
    return outcome(name, frame[1][1] == b'ok', frame[1][2])


def call(name, args, kwargs):
    own_import('json')
    data = arguments(name, args, kwargs)
    flush()
    check_call(name)
    with hold:
        entry = announce_call(name, Entry)
        send_held(frame_of(b'Q', (entry.seq, entry.key[1:], name, data)))
        frame = obtain(entry, True)
    return result(name, frame)


def line_of(name, number):
    """Returns a line of a program's, or nothing."""
    lines = sources[name][2] if name in sources else ()
    return lines[number - 1] if 0 < number <= len(lines) else ''


class Pending:
    """A call that an asyncio loop waits for. The loop reads the channel itself while no
    thread does."""

    def __init__(self, key):
        self.key, self.loop = key, modules['asyncio'].get_running_loop()
        self.future = self.loop.create_future()

    def asks(self):
        return False

    def give(self, frame):
        try:
            self.loop.call_soon_threadsafe(self.settle, frame)
        except RuntimeError:
            pass  # it is closed

    def settle(self, frame):
        if not self.future.done():
            self.future.set_result(frame)

    def begin(self):
        keys = loops.setdefault(self.loop, set())
        if not keys:
            self.loop.add_reader(CONTROL, read_for_loop)
        keys.add(self.key)

    def end(self):
        with gate:
            waiting.pop(self.key, None)
        keys = loops.get(self.loop, ())
        if self.key in keys:
            keys.remove(self.key)
            if not keys:
                leave_loop(self.loop)


def leave_loop(loop):
    if loops.pop(loop, None) is not None and not loop.is_closed():
        loop.remove_reader(CONTROL)


async def call_aio(name, args, kwargs):
    own_import('json')
    data = arguments(name, args, kwargs)
    flush()
    check_call(name)
    with hold:
        entry = announce_call(name, Pending)
        entry.begin()
        send_held(frame_of(b'Q', (entry.seq, entry.key[1:], name, data)))
    try:
        frame = await entry.future
    finally:
        entry.end()
    return result(name, frame)


def read_for_loop():
    """Reads what has come, unless a thread does."""
    global reading
    with hold:
        with gate:
            if reading:
                return
            reading = get_ident()
        ready = new_poller()
        while ready(0):
            receive_all()
        stop_reading()


def end_calls():
    """Ends the calls of asyncio's loops with the run. Those of threads the host answers."""
    with gate:
        ended = [e for e in waiting.values() if type(e) is Pending]
        for e in ended:
            del waiting[e.key]
    for e in ended:
        e.give((b'V', [e.key[1:], b'error', b'the run has ended']))
    for loop in list(loops):
        if loop is state.loop or loop.is_closed():
            leave_loop(loop)
