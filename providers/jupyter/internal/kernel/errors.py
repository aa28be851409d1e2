# How errors are shown: as IPython does, but for what would take too long or be wrong.

import asyncio, sys, traceback


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


def is_interrupt(error):
    return isinstance(error, (KeyboardInterrupt, asyncio.CancelledError))


def lines(etype, error, tb):
    """A traceback without the frames of the kernel, with cells as IPython names them."""
    numbers = getattr(shell.compile, "_filename_map", {})  # of cells, by the files that they are compiled as
    out = ["Traceback (most recent call last):"]
    for f in traceback.extract_tb(tb):
        if not is_kernels(f.filename):
            where = "Cell In[%s]" % numbers[f.filename] if f.filename in numbers else 'File "%s"' % f.filename
            out += ["  %s, line %s, in %s" % (where, f.lineno, f.name), "    %s" % f.line]
    return out + [line.rstrip("\n") for line in traceback.format_exception_only(etype, error)]


def is_kernels(name):
    return name == "<toolcell>" or any("/%s/" % package in name for package in ("ipykernel", "IPython", "zmq", "tornado", "asyncio"))
