# How errors are shown: as IPython does, but for what would take too long or be wrong.

import sys, traceback


def hook_errors(shell):
    """Shows exits as their code, and interrupts as python does: IPython parses the source
    of every frame, which takes longer than an interrupted program is given."""
    formatter = shell.InteractiveTB
    plain, show = formatter.structured_traceback, shell._showtraceback

    def structured_traceback(etype, error, tb=None, *args, **kwargs):
        if is_interrupt(error):
            return lines(etype, error, tb)
        return plain(etype, error, tb, *args, **kwargs)

    def _showtraceback(etype, error, report):
        if isinstance(error, SystemExit):
            if error.code is not None and not isinstance(error.code, int):
                print(error.code, file=sys.stderr, flush=True)
            error = SystemExit(exit_code(error))
        show(etype, error, report)

    shell._showtraceback, formatter.structured_traceback = _showtraceback, structured_traceback


def exit_code(error):
    """The exit code of a process that ends with a SystemExit."""
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else 1


def chain(error):
    """An error and those that it came of."""
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def is_interrupt(error):
    return any(isinstance(e, KeyboardInterrupt) or type(e).__name__ == "CancelledError" for e in chain(error))


def lines(etype, error, tb):
    """A traceback as python prints it, without the frames of the kernel, with cells as
    IPython names them."""
    report = traceback.TracebackException(etype, error, tb)
    todo = [report]
    while todo:
        e = todo.pop()
        e.stack[:] = [f for f in e.stack if not is_kernels(f.filename)]
        todo += [x for x in (e.__cause__, e.__context__, *(getattr(e, "exceptions", None) or ())) if x is not None]
    text = "".join(report.format())
    for file, number in cells().items():
        text = text.replace('File "%s", line' % file, "Cell In[%s], line" % number)
    return text.splitlines()


def is_kernels(name):
    return name == "<toolcell>" or any("/%s/" % package in name for package in ("ipykernel", "IPython", "zmq", "tornado"))


def cells():
    """The numbers of cells by the names of the files that they are compiled as."""
    return getattr(shell.compile, "_filename_map", {})
