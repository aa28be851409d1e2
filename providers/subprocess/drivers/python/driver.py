"""The Python driver: runs programs in __main__ and speaks frames on fd 3.

It imports nothing at its start but what every interpreter has loaded, since
start-up time is what a stateless run mostly costs. For the same reason what few
such runs need, the files below later/, is defined when it is first used. Its own
state lives in this namespace, not in __main__, and what it needs of builtins and
modules is bound here before any program can replace it.
"""
import sys, os, io, builtins, _signal
from _signal import SIGINT, default_int_handler, getsignal, signal as set_handler
from _thread import RLock, allocate_lock, get_ident, interrupt_main
from marshal import loads

CONTROL = 3
LIMIT = 48 << 20  # bytes of one show; the host refuses frames of 64 MiB
MAX_ID, MAX_MIME, MAX_BUNDLE, MAX_METADATA = 1024, 256, 64, 64 << 10  # of a show
MAX_MESSAGE, MAX_TRACEBACK, MAX_LINES = 64 << 10, 256 << 10, 4096  # of an error
MAX_ARGS, MAX_NESTED, MAX_CALLS = 48 << 20, 500, 4096  # of a call, and how many may be open
MAX_READ = 1 << 18
MAX_COPIED = 1 << 12  # bytes of a field, or of several frames, that are copied twice
MAX_KEPT = 1 << 15  # bytes of frames that go with the next one
MAX_LATE = 1 << 20  # bytes of one frame of late output
AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
TREE = 0x400  # ast.PyCF_ONLY_AST
COROUTINE = 0x80  # inspect.CO_COROUTINE
FUTURES = 0x1FF0000  # the compiler flags of __future__ imports
MAX_CELLS = 2000  # sources kept for tracebacks

OWN = '<toolcell>'  # file name of this source

main = sys.modules['__main__']
space = main.__dict__
environ, environb = os.environ, os.environb
read, write, fsencode, getpid, exit_now = os.read, os.write, os.fsencode, os.getpid, os._exit
compile_, exec_, eval_, repr_, type_, isinstance_ = compile, exec, eval, repr, type, isinstance
modules = sys.modules
settrace, setprofile, gettrace, getprofile, current_frames = sys.settrace, sys.setprofile, sys.gettrace, sys.getprofile, sys._current_frames


class State:
    seq = ''  # of the last run
    busy = False  # that run is in progress
    once = False  # there is one run only
    cell = 0  # number of runs
    name = ''  # file name of the run in progress
    running = False  # the program may be interrupted
    mode = 0  # what the main thread does: FREE, HELD or SOFT
    owed = False  # an interrupt that waits until it is not HELD
    off = None  # one that waits for asyncio's own code
    again = False  # the next signal has the handler look at that again
    flushing = False  # the main thread flushes the output
    interrupts = 0  # signals that came while the program could be interrupted, of this run
    confirmed = 0  # of how many of those the host has said that it sent them
    signaled = False  # any came since the last run began
    announced = False  # the host is about to interrupt the run in progress
    flags = 0  # of __future__ imports so far
    shows = 0
    calls = 0
    poll = None  # tells whether the channel has something to read
    loop = None  # asyncio's, once a program awaited at its top level
    old = ()  # the numbers of threads that were there as the run began
    script = None  # the name of the file that the program is
    stdin = False  # fd 0 is a file of this run
    given = None  # sys.__stdin__ of the last run
    aside = ()  # the program's own sys.stdin, while the last run is given one
    input = None  # what they were in the run before
    lost = 0  # bytes that were left out of the last error
    kept = b''  # frames that go with the next one
    open = False  # what is printed is the run's own, unless others print it
    forked = False  # other processes may write to the channel too
    thread = get_ident()  # the main one, which runs programs and gets signals


state = State()
pid = getpid()
sources = {}  # file name -> linecache entry


# What the main thread does: what may be interrupted, an exchange with the host,
# or the wait in one, which an interrupt ends and in which handlers run.
FREE, HELD, SOFT = 0, 1, 2

outer = []  # the modes of the main thread around the present one
inside = {}  # other threads in an exchange -> how many, one within the other


class Hold:
    """Keeps interrupts and the program's own handlers of signals away from an
    exchange with the host."""

    def __enter__(self):
        ident = get_ident()
        if ident == state.thread:
            outer.append(state.mode)
            state.mode = HELD
        else:
            inside[ident] = inside.get(ident, 0) + 1

    def __exit__(self, *exc):
        ident = get_ident()
        if ident == state.thread:
            release()
        elif inside[ident] > 1:
            inside[ident] -= 1
        else:
            del inside[ident]


hold = Hold()


def release():
    state.mode = outer.pop()
    if state.mode == FREE:
        if pending_signals:
            catch_up()
        if state.owed:
            interrupt()


LATER = '''absent announce between_runs bundle_of compile_tree complete completed describe drop_figures end_calls
    evaluate_awaiting installed last_figures look_for_interrupt mark_streams new_poller number_runs offer poller put_off
    renew route send_last show show_all show_figures shows_itself softly to_json DisplayHandle'''.split()
loading = RLock()


def load():
    """Defines what is below later/: all of it, or nothing."""
    global later
    if not later:
        return
    import gc
    with hold, loading:
        collects = gc.isenabled()
        gc.disable()  # no finalizer of the program's sees a part of it
        try:
            if later:
                exec_(loads(later), globals())
                later = b''
        finally:
            if later:
                defer()
            if collects:
                gc.enable()


def defer():
    """Stands functions in for those below later/, and for classes."""
    for name in LATER:
        globals()[name] = deferred(name)


def deferred(name):
    def call_loaded(*args, **kw):
        load()
        return globals()[name](*args, **kw)

    return call_loaded


if later:  # of the process that has started this one
    defer()


def interrupt():
    running, state.running, state.owed = state.running, False, False
    state.off = None
    if running:
        raise KeyboardInterrupt


def on_interrupt(signum, frame):
    again, state.again = state.again, False
    if not again:
        state.signaled = True
        if state.running:
            state.interrupts += 1
    # In the midst of an exchange, which goes first; a mere wait in it ends.
    if state.running and state.mode:
        state.owed = True
        if state.mode == SOFT:
            state.mode = HELD
            raise Woken
    elif state.running and state.busy and 'asyncio' in modules and put_off(frame):
        state.again, again = True, Again()
    else:
        interrupt()


pending_signals = {}  # signals that came in the midst of an exchange -> handler and frame


class Handler:
    """A program's handler of a signal. It runs when the main thread is in the
    midst of nothing of ours, and has no error outside of a run."""

    def __init__(self, call):
        self.call = call

    def __call__(self, signum, frame):
        if state.mode == HELD or state.flushing:
            pending_signals[signum] = self, frame
        elif state.mode == SOFT:
            state.mode = HELD
            stop_reading()  # what the handler waits for may be another thread's answer
            state.mode = FREE
            self.call(signum, frame)
            state.mode = HELD
            raise Woken
        elif state.running:
            self.call(signum, frame)
        else:
            try:
                self.call(signum, frame)
            except BaseException as e:
                if state.once or later:
                    sys.excepthook(type_(e), e, e.__traceback__.tb_next)
                else:
                    tell_late(HANDLED, e)


def catch_up():
    while pending_signals:
        signum = next(iter(pending_signals))
        handler, frame = pending_signals.pop(signum)
        handler(signum, frame)


def signal(signalnum, handler, /):
    """Sets the action for the given signal, as _signal.signal does, and returns
    the one before."""
    own = Handler(handler) if callable(handler) else handler
    if handler is default_int_handler and signalnum == SIGINT:
        own = on_interrupt
    return handler_of(set_handler(signalnum, own))


def get_signal(signalnum, /):
    """Returns the current action for the given signal, as _signal.getsignal
    does. asyncio.run, which puts a handler in place of python's that cannot stop a task
    in the midst of its code, is told that this is another."""
    own = getsignal(signalnum)
    if own is on_interrupt and sys._getframe(2).f_globals.get('__name__') == 'asyncio.runners':
        return own
    return handler_of(own)


def handler_of(own):
    return own.call if type_(own) is Handler else default_int_handler if own is on_interrupt else own
