# The output of what earlier runs of a context left behind.

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


# stream and its name -> its Router, the last ones used. print takes no reference to
# sys.stdout: a Router must outlive what threads print to it, or the process dies.
routers = {}
MAX_ROUTERS = 64


def route():
    """Puts Routers in place where threads or tasks of earlier runs are alive."""
    threads = {ident: thread_object(ident) for ident in current_frames() if ident != state.thread}
    state.old = threads
    routed = bool(threads) or has_tasks()
    for name in ('stdout', 'stderr'):
        now = getattr(sys, name)
        own = now.own if type_(now) is Router else now
        setattr(sys, name, router_of(own, name) if routed else own)
    if not threads:
        routers.clear()


def router_of(own, name):
    key = id(own), name
    router = routers[key] = routers.pop(key, None) or Router(own, name)
    if len(routers) > MAX_ROUTERS:
        del routers[next(iter(routers))]
    return router


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
