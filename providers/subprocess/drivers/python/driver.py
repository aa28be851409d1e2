"""The Python driver: runs programs in __main__ and speaks frames on fd 3.

It imports nothing at its start but what every interpreter has loaded, since
start-up time is what a stateless run mostly costs. Its own state lives in this
namespace, not in __main__, and what it needs of builtins and modules is bound
here before any program can replace it.
"""
import sys, os, io, builtins, _signal
from _thread import allocate_lock, get_ident

CONTROL = 3
LIMIT = 48 << 20  # bytes of one show; the host refuses frames of 64 MiB
AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
TREE = 0x400  # ast.PyCF_ONLY_AST
COROUTINE = 0x80  # inspect.CO_COROUTINE
FUTURES = 0x1FF0000  # the compiler flags of __future__ imports
MAX_CELLS = 2000  # sources kept for tracebacks

main = sys.modules['__main__']
space = main.__dict__
environ, environb, set_blocking = os.environ, os.environb, os.set_blocking
read, write, fsencode, getpid, exit_now = os.read, os.write, os.fsencode, os.getpid, os._exit
compile_, exec_, eval_, repr_, type_, isinstance_ = compile, exec, eval, repr, type, isinstance
modules = sys.modules
settrace, setprofile = sys.settrace, sys.setprofile


class State:
    seq = ''  # of the run in progress
    once = False  # there is one run only
    cell = 0  # number of runs
    name = ''  # file name of the run in progress
    running = False  # the program may be interrupted
    held = 0  # exchanges with the host in which it may not
    owed = False  # an interrupt that waits for their end
    flags = 0  # of __future__ imports so far
    shows = 0
    loop = None  # asyncio's, once a program awaited at its top level
    stdin = False  # fd 0 is a file of this run
    thread = get_ident()  # the main one, which runs programs and gets signals


state = State()
pid = getpid()
sources = {}  # file name -> linecache entry
sending = allocate_lock()
showing = allocate_lock()


class Hold:
    """Keeps an interrupt away from an exchange with the host."""

    def __enter__(self):
        if get_ident() == state.thread:
            state.held += 1

    def __exit__(self, *exc):
        if get_ident() == state.thread:
            state.held -= 1
            if state.owed and not state.held:
                interrupt()


hold = Hold()


def interrupt():
    running, state.running, state.owed = state.running, False, False
    if running:
        raise KeyboardInterrupt


def on_interrupt(signum, frame):
    if state.running and state.held:
        state.owed = True
    else:
        interrupt()


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


def receive(head=b''):
    body = take(int(head + take(8 - len(head)), 16))
    fields, i = [], 1
    while i < len(body):
        n = int(body[i:i + 8], 16)
        fields.append(body[i + 8:i + 8 + n])
        i += 8 + n
    return body[:1], fields


def called_off():
    """Tells whether the host has ended the run before it began: its signal may
    have come too early to do so. It comes before the second of the frames."""
    set_blocking(CONTROL, False)
    try:
        head = read(CONTROL, 8)
    except BlockingIOError:
        return False
    finally:
        set_blocking(CONTROL, True)
    if not head:
        exit_now(0)
    receive(head)
    receive()
    return True


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
        while data:
            data = data[write(CONTROL, data):]
