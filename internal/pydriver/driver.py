"""The Python driver: runs programs in __main__ and speaks frames on descriptor 3.

It imports at its start only what every interpreter has loaded, since a stateless run
mostly costs start-up. Its names live in this namespace, not in __main__, with a copy of
builtins, so that what a program replaces there is not the driver's.
"""
import sys, os, io, builtins, _signal
from _signal import SIGINT, getsignal, signal as set_handler
from marshal import loads
from _thread import RLock, allocate_lock, get_ident, interrupt_main
from os import read, write, getpid, environ, environb, _exit as exit_now

CONTROL = 3
LIMIT = 48 << 20  # bytes of one show; the host refuses frames of 64 MiB
MAX_ID, MAX_MIME, MAX_BUNDLE, MAX_METADATA = 1024, 256, 64, 64 << 10  # of a show
MAX_MESSAGE, MAX_TRACEBACK = 64 << 10, 256 << 10  # of an error
MAX_ARGS, MAX_CALLS = 48 << 20, 4096  # of a call; calls that may be open
MAX_READ = 1 << 18
MAX_COPIED = 1 << 12  # bytes of a field, or of several frames, that are copied twice
MAX_KEPT = 1 << 15  # bytes of frames that go with the next one
MAX_LATE = 1 << 20  # bytes of one frame of late output
AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
TREE = 0x400  # ast.PyCF_ONLY_AST
COROUTINE, VARARGS = 0x80, 4  # inspect.CO_COROUTINE, CO_VARARGS
FUTURES = 0x1FF0000  # the compiler flags of __future__ imports
MAX_CELLS, MAX_VALUES = 2000, 100  # sources kept for tracebacks, and values kept as _N

OWN = '<toolcell>'  # file name of this source


def load(part):
    """Loads a part of this source that waits as bytes in parts."""
    code = parts.get(part)
    if code:
        with hold:
            exec(loads(code), globals())
            parts.pop(part, None)


def loaded_on_use(name):
    """Stands for a function of the part that is loaded when one of them is called: a
    single run mostly calls none."""
    def function(*args, **kwargs):
        load('later')
        return globals()[name](*args, **kwargs)

    return function


for name in parts['names']:
    globals()[name] = loaded_on_use(name)

main = sys.modules['__main__']
space = main.__dict__
modules = sys.modules
current_frames = sys._current_frames
path, meta_path = sys.path[:], sys.meta_path[:]  # what the driver itself imports by


class State:
    seq = ''  # of the last run
    busy = False  # that run is in progress
    once = False  # there is one run only
    cell = 0  # number of runs
    name = ''  # file name of the run in progress
    running = False  # the program may be interrupted
    owed = False  # an interrupt that waits for the end of an exchange
    interrupts = 0  # signals that came while the program could be interrupted, of this run
    confirmed = 0  # of how many of those the host has said that it sent them
    signaled = False  # any came since the last run began
    announced = ''  # the run that the host is about to interrupt
    early = False  # the host has sent the signal before the run began
    flags = 0  # of __future__ imports so far
    shows = 0
    calls = 0
    loop = None  # asyncio's, once a program awaited at its top level
    old = ()  # the threads that were there as the run began
    handlers = {}  # the handlers of signals that were there then
    script = None  # the name of the file that the program is
    stdin = False  # descriptor 0 is a file of this run
    given = None  # sys.__stdin__ of the last run
    aside = None  # the program's own sys.stdin, while the run is given one
    last = None  # the value that is _
    modules = 0  # how many were there when has_c_code looked
    c_code = False  # what it found
    lost = 0  # bytes that were left out of the last error
    kept = b''  # frames that go with the next one
    open = False  # what is printed is the run's own, unless others print it
    forked = False  # other processes may write to the channel too
    thread = get_ident()  # the main one, which runs programs and gets signals


state = State()
pid = getpid()
sources = {}  # file name -> linecache entry
held = {}  # threads in an exchange with the host -> how many, one within the other


class Hold:
    """Keeps interrupts away from an exchange with the host."""

    def __enter__(self):
        ident = get_ident()
        held[ident] = held.get(ident, 0) + 1

    def __exit__(self, *exc):
        ident = get_ident()
        n = held.pop(ident, 1) - 1
        if n:
            held[ident] = n
        elif state.owed and ident == state.thread:
            interrupt()


hold = Hold()


def occupied():
    """Tells whether this thread is in an exchange: a finalizer can run at any point."""
    return get_ident() in held


def interrupt():
    running, state.running, state.owed = state.running, False, False
    if running:
        raise KeyboardInterrupt


def on_interrupt(signum, frame):
    state.signaled = True
    if state.running:
        state.interrupts += 1
        if state.thread in held:
            state.owed = True
        else:
            interrupt()


def softly(wait):
    """Waits, in an exchange of the main thread, where an interrupt may end the wait."""
    ident = get_ident()
    n = held.pop(ident, 0)
    try:
        if state.owed:
            interrupt()
        wait()
    finally:
        held[ident] = n


def own_import(name):
    """Imports a module for the driver, whatever the program has done to sys.path."""
    if name in modules:
        return modules[name]
    before, finders = sys.path[:], sys.meta_path[:]
    sys.path[:], sys.meta_path[:] = path, meta_path
    try:
        with hold:
            __import__(name)
    finally:
        sys.path[:], sys.meta_path[:] = before, finders
    return modules[name]
