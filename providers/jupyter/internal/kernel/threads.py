# What a thread knows of the run that started it. This is run before calls.py and
# setup.py, in one source.

import contextlib, contextvars, sys, threading


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
    """Has what a thread prints and shows belong to the cell that started it. ipykernel 7
    takes the present cell's before Python 3.14, and 6 goes by the number of the thread,
    which it may have from one that is gone, and that another cell had started."""
    senders = [s for s in (sys.stdout, sys.stderr, shell.display_pub)
               if isinstance(getattr(s, "_parent_header", None), contextvars.ContextVar)]

    @contextlib.contextmanager
    def owned(parents):
        for sender, parent in zip(senders, parents):
            sender._parent_header.set(parent)
        yield

    for sender in senders:
        hook_parent(sender)
    if senders:
        in_threads(lambda: owned([sender.parent_header for sender in senders]))


def hook_parent(sender):
    """Has what threads say that know of no cell, such as those that read what child
    processes print, belong to the last program's: the client takes nothing of what
    belongs to its hidden requests."""
    plain, last = sender.set_parent, sender._parent_header_global

    def set_parent(parent):
        nonlocal last
        plain(parent)
        if parent["header"]["msg_type"] == "execute_request" and not parent["content"].get("silent"):
            last = sender._parent_header_global
        else:
            sender._parent_header_global = last

    sender.set_parent = set_parent
