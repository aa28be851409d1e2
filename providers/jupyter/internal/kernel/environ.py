# The variables of a run, in the process's os.environ and in what a program has put in its
# place. Nothing here calls what a program has defined: that may exit, or never end.
# setup.py follows in one source.

import os, sys

environ = os.environ  # the process's, whatever a program puts in its place


class Os:
    """The module os, as the kernel is to see it."""

    environ = environ

    def __getattr__(self, name):
        return getattr(os, name)


def hook_environ():
    """Has the kernel, which looks into os.environ before each cell, look into the process's."""
    compiler = sys.modules.get("ipykernel.compiler")
    if compiler is not None:
        compiler.os = Os()


def keep_environ():
    """Puts os.environ back where a program has left none."""
    if os.__dict__.get("environ") is None:
        os.environ = environ


def in_place():
    """What a program has put in the place of os.environ, and the type whose methods are
    python's own; None where there is nothing, or no such type."""
    now = os.__dict__.get("environ")
    if now is environ:
        return None, None
    kind = type(now)
    if dict in kind.__mro__:
        return now, dict
    chain = getattr(sys.modules.get("collections"), "ChainMap", None)
    return (now, kind) if kind in (type(environ), chain) else (None, None)


def put(names, kind, name, value):
    if value is None:
        if name in kind.keys(names):
            kind.__delitem__(names, name)
    else:
        kind.__setitem__(names, name, value)


def assign(name, value):
    """Sets a variable of a run."""
    environ[name] = value
    try:
        now, kind = in_place()
        if now is not None:
            put(now, kind, name, value)
    except BaseException:
        pass  # of a map in a chain


def undoing(name, value):
    """What takes a variable of a run away again, also out of a copy of os.environ that
    the program has in its place by then."""
    before = seen = environ.get(name)
    try:
        now, kind = in_place()
        if now is not None:
            seen = kind.get(now, name)
    except BaseException:
        pass

    def undo():
        put(environ, type(environ), name, before)
        try:
            now, kind = in_place()
            if now is not None and kind.get(now, name) == value:
                put(now, kind, name, seen)
        except BaseException:
            pass

    return undo
