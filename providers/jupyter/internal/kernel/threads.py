# What a thread knows of the run that started it. This is run before calls.py and
# setup.py, in one source.

import contextlib, sys, threading


def in_threads(within):
    """Has what each thread does be done within what within() returned where the
    thread was started."""
    for name in ("_start_new_thread", "_start_joinable_thread"):
        if hasattr(threading, name):
            setattr(threading, name, starting(getattr(threading, name), within))


def starting(start, within):
    def start_within(function, *args, **kw):
        surroundings = within()

        def begin(*args):
            with surroundings:
                function(*args)

        return start(begin, *args, **kw)

    return start_within


def hook_threads(shell):
    """Has what a thread prints and shows belong to the cell that started it. With
    ipykernel 7 it would be the present cell's, and with Python 3.14 is not."""
    senders = [s for s in (sys.stdout, sys.stderr, shell.display_pub) if hasattr(s, "set_thread_parent")]

    @contextlib.contextmanager
    def owned(parents):
        for sender, parent in zip(senders, parents):
            sender.set_thread_parent(parent)
        yield

    if senders:
        in_threads(lambda: owned([sender.parent_header for sender in senders]))
