# Which cell what goes on in threads belongs to, by the rule of pytools' runs, which
# goes before this in one source, as spool.py does; calls.py and setup.py follow.

import contextvars, sys

run_of = contextvars.ContextVar("run_of", default=None)  # the cell that a task belongs to
parents = []  # of what is sent, for each of what sends


class Parent:
    """In the place of the ContextVar that has the cell for what a thread prints or
    shows. Where that has none, it is the thread's own. ipykernel 6 goes by the number
    of the thread then, which that may have from one that is gone, and 7 takes the
    cell in progress. In the loop's own context, where handlers of signals run and
    asyncio tells of what failed, it is empty: that is of the program under way, or the
    last."""

    def __init__(self, sender, number):
        self.sender, self.var, self.number = sender, sender._parent_header, number
        sender._parent_header = self

    def get(self, *default):
        try:
            header = self.var.get()
        except LookupError:
            if belongs.to is None:
                return self.var.get(*default)
            return belongs.to[1][self.number]
        return header or self.sender._parent_header_global

    def set(self, value):
        return self.var.set(value)

    def reset(self, token):
        self.var.reset(token)


def hook_threads(shell):
    for sender in (sys.stdout, sys.stderr, shell.display_pub):
        if isinstance(getattr(sender, "_parent_header", None), contextvars.ContextVar):
            parents.append(Parent(sender, len(parents)))
            hook_parent(sender)

    shell.events.register("pre_run_cell", lambda info: run_of.set(asked(shell)["msg_id"]))
    note_threads()


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


def present():
    return present_run(), [parent.sender.parent_header for parent in parents]


def present_run():
    """Returns the id of the cell that what runs here belongs to, or None."""
    return run_of.get() or (belongs.to[0] if belongs.to else None)


def enter(mark):
    tokens = [(run_of, run_of.set(mark[0]))]
    tokens += [(parent, parent.set(header)) for parent, header in zip(parents, mark[1])]

    def undo():
        for var, token in tokens:
            var.reset(token)

    return undo
