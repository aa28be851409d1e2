"""The Python driver: runs programs in __main__ and speaks frames on fd 3.

It imports nothing at its start but what every interpreter has loaded, since
start-up time is what a stateless run mostly costs. Its own state lives in this
namespace, not in __main__, and what it needs of builtins and modules is bound
here before any program can replace it.
"""
import sys, os, io, builtins, _signal
from _signal import SIGINT, getsignal
from _thread import allocate_lock, get_ident, interrupt_main

CONTROL = 3
LIMIT = 48 << 20  # bytes of one show; the host refuses frames of 64 MiB
MAX_ID, MAX_MIME, MAX_BUNDLE, MAX_METADATA = 1024, 256, 64, 64 << 10  # of a show
MAX_MESSAGE, MAX_TRACEBACK, MAX_LINES = 64 << 10, 256 << 10, 4096  # of an error
MAX_ARGS, MAX_CALLS = 48 << 20, 4096  # of a call, and how many may be open
MAX_READ = 1 << 18
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
settrace, setprofile, current_frames = sys.settrace, sys.setprofile, sys._current_frames


class State:
    seq = ''  # of the last run
    busy = False  # that run is in progress
    once = False  # there is one run only
    cell = 0  # number of runs
    name = ''  # file name of the run in progress
    running = False  # the program may be interrupted
    held = 0  # exchanges with the host in which it may not
    owed = False  # an interrupt that waits for their end
    soft = False  # the main thread waits in one, and an interrupt ends that
    interrupts = 0  # signals that came while the program could be interrupted
    signaled = False  # any came since the last run began
    announced = -1  # what that was when the host announced one, -1 without
    flags = 0  # of __future__ imports so far
    shows = 0
    calls = 0
    poll = None  # tells whether the channel has something to read
    loop = None  # asyncio's, once a program awaited at its top level
    old = {}  # threads of earlier runs: number -> threading's object
    stdin = False  # fd 0 is a file of this run
    lost = 0  # bytes that were left out of the last error
    kept = b''  # frames that go with the next one
    forked = False  # other processes may write to the channel too
    thread = get_ident()  # the main one, which runs programs and gets signals


state = State()
pid = getpid()
sources = {}  # file name -> linecache entry


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
    state.signaled = True
    if state.running:
        state.interrupts += 1
    if state.running and state.held:
        state.owed = True
        if state.soft:
            state.soft = False
            raise Woken
    else:
        interrupt()


def shortened(s, limit):
    """Returns s with its middle left out, and told, where it is longer than
    the limit in bytes, and counts it."""
    if len(s) <= limit // 4:
        return s  # no character takes more than 4 bytes
    b = text(s)
    if len(b) <= limit:
        return s
    half = limit // 2 - 50
    state.lost += len(b) - 2 * half
    head, tail = b[:half].decode('utf-8', 'ignore'), b[len(b) - half:].decode('utf-8', 'ignore')
    return '%s\n[%d bytes are left out]\n%s' % (head, len(b) - 2 * half, tail)


def shortened_lines(s):
    lines = s.split('\n')
    if len(lines) <= MAX_LINES:
        return s
    half = MAX_LINES // 2 - 1
    state.lost += sum(len(l) + 1 for l in lines[half:-half])
    return '\n'.join(lines[:half] + ['[%d lines are left out]' % (len(lines) - 2 * half)] + lines[-half:])
