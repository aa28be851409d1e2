# What programs can call of the host: tools.name(**args) from any thread, and
# await tools.aio.name(**args) in asyncio. This follows channel.py in one source.

loops = {}  # asyncio's loop -> keys of its open calls; used in the loop's thread


class ToolError(Exception):
    """A function of the host that failed or could not be called; name is the
    function's, message says why."""

    __module__ = 'builtins'

    def __init__(self, name, message=''):
        super().__init__(name, message)
        self.name, self.message = name, message

    def __str__(self):
        return '%s: %s' % (self.name, self.message)


class Tools:
    """The functions of the host, by name; tools.aio has them for asyncio."""

    def __getattr__(self, name):
        names = ', '.join(k for k in self.__dict__ if k != 'aio')
        raise AttributeError('there is no function %s; there is: %s' % (name, names or 'none'))


tools, aio = Tools(), Tools()


def offer(names):
    """Makes the functions known, in place of those that were before."""
    names = [name.decode() for name in names]
    for of, stub in ((tools, sync_stub), (aio, async_stub)):
        of.__dict__.clear()
        of.__dict__.update((name, stub(name)) for name in names)
    tools.__dict__['aio'] = aio
    for name, v in (('tools', tools), ('ToolError', ToolError)):
        if names:
            setattr(builtins, name, v)
        elif getattr(builtins, name, None) is v:
            delattr(builtins, name)


def sync_stub(name):
    def stub(*args, **kwargs):
        return call(name, args, kwargs)

    stub.__name__, stub.__qualname__, stub.__module__ = name, 'tools.' + name, 'builtins'
    return stub


def async_stub(name):
    async def stub(*args, **kwargs):
        return await call_aio(name, args, kwargs)

    stub.__name__, stub.__qualname__, stub.__module__ = name, 'tools.aio.' + name, 'builtins'
    return stub


def arguments(name, args, kwargs):
    if args:
        raise TypeError('tools.%s takes its arguments by name' % name)
    import json
    data = text(json.dumps(kwargs, ensure_ascii=False, allow_nan=False))
    if len(data) > MAX_ARGS:
        raise ToolError(name, 'arguments of %d bytes; at most %d are possible' % (len(data), MAX_ARGS))
    return data


def announce_call(name, make):
    """Returns the entry, which make makes of its key, of a call that is about
    to be sent."""
    if getpid() != pid:
        raise ToolError(name, 'functions cannot be called from a forked process: call them from threads, or before the fork')
    with gate:
        if not state.busy or is_old():
            raise ToolError(name, 'the run has ended')
        if len(waiting) >= MAX_CALLS:
            raise ToolError(name, 'more than %d calls at once' % MAX_CALLS)
        state.calls += 1
        key = b'V%d' % state.calls
        entry = waiting[key] = make(key)
    return entry


def result(name, frame):
    if frame is None:
        raise ToolError(name, 'interrupted')
    how, data = frame[1][1], frame[1][2]
    if how != b'ok':
        raise ToolError(name, data.decode('utf-8', 'replace'))
    import json
    return json.loads(data)


def call(name, args, kwargs):
    data = arguments(name, args, kwargs)
    flush()
    with hold:
        entry = announce_call(name, Entry)
        send(b'Q', state.seq, entry.key[1:], name, data)
        frame = obtain(entry, True)
    return result(name, frame)


class Pending:
    """A call that an asyncio loop waits for. The loop reads the channel itself
    while no thread does."""

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
            poller()
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
    data = arguments(name, args, kwargs)
    flush()
    import asyncio
    with hold:
        entry = announce_call(name, Pending)
        entry.begin()
        send(b'Q', state.seq, entry.key[1:], name, data)
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
            reading = True
        while state.poll(0):
            distribute(*receive())
        stop_reading()


def end_calls():
    """Ends the calls of asyncio's loops with the run. Those of threads the host
    answers."""
    with gate:
        ended = [e for e in waiting.values() if type_(e) is Pending]
        for e in ended:
            del waiting[e.key]
    for e in ended:
        e.give((b'V', [e.key[1:], b'error', b'the run has ended']))
    for loop in list(loops):
        if loop is state.loop or loop.is_closed():
            leave_loop(loop)
