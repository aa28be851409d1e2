# How errors are shown. This follows pyframes' source; setup.py, which comes behind it
# in one source, has the shell.

import linecache, os, re, sys, threading, traceback

HEAD, TAIL = 10, 40  # frames of a long traceback that was to come at once
UNREADABLE = "<the error has no readable message>"


def folders(*packages):
    """Where packages are, each with a separator at its end."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in packages]
    return tuple(os.path.dirname(file) + os.sep for file in files if file)


OWN = sys._getframe().f_code.co_filename
STANDARD = folders("os")
SHELL = folders("ipykernel", "IPython.core")  # what shows, prints and asks for a program
SHELLS = folders("ipykernel", "IPython", "traitlets", "zmq", "jupyter_client", "tornado") + ("zmq/",)  # as frames of Cython have it


def hook_errors(shell):
    """Has errors told without the frames of what stands between the program and the
    kernel: it is at the program's line that they happen, as in a python process."""
    plain = shell._get_exc_info

    def _get_exc_info(*args, **kwargs):
        etype, error, tb = plain(*args, **kwargs)
        without_own(error)
        return etype, error, without_shell(tb) if isinstance(error, SyntaxError) else tb

    shell._get_exc_info = _get_exc_info
    hook_groups(shell)


def without_own(error):
    """Takes from an error what is not of the program."""
    try:
        drop_frames(error, lambda outermost: Foreign(outermost).has)
    except (Exception, KeyboardInterrupt):
        pass  # of an error that has no such traceback; it is shown as it is


class Foreign:
    """Tells of the frames of a traceback, in their order, which are not of the program:
    this source's, the kernel's, and the library's that the kernel calls."""

    def __init__(self, outermost):
        # What comes before the program is the shell, which counts these to leave them out.
        self.below, self.inside = outermost, False

    def has(self, frame):
        name = frame.f_code.co_filename
        if self.below and name.startswith(SHELLS):
            return False
        self.below = False
        if name == OWN:
            return True
        self.inside = name.startswith(SHELL) or self.inside and (name.startswith(SHELLS) or is_standard(name))
        return self.inside


def is_standard(name):
    """Whether a file is of python's library."""
    return name.startswith(("<frozen ", *STANDARD)) and "-packages" + os.sep not in name


def hook_formats(shell, drain):
    """Has what child processes wrote come before a value or a display, and tells
    an error of a representation as what the program prints to standard error: the
    end of the program is another matter, and kernels differ in what they make of
    it."""
    plain, show, inside = shell.display_formatter.format, shell._showtraceback, threading.local()

    def format(*args, **kwargs):
        before = getattr(inside, "format", False)
        if not before:
            drain(0.1)  # they may write on and on
        inside.format = True
        try:
            return plain(*args, **kwargs)
        finally:
            inside.format = before

    def showtraceback(etype, evalue, stb):
        if getattr(inside, "format", False):
            print(report_of(etype, evalue), end="", file=sys.stderr, flush=True)
        else:
            show(etype, evalue, stb)

    shell.display_formatter.format, shell._showtraceback = format, showtraceback


def hook_groups(shell):
    """Has groups of errors, and errors that come of such, told as others are. IPython
    prints them, and what it leaves as the traceback is that of an error before."""
    plain, usage = shell.showtraceback, __import__("IPython").core.error.UsageError

    def showtraceback(exc_tuple=None, *args, exception_only=False, **kwargs):
        error = (exc_tuple or sys.exc_info())[1]
        if exception_only or isinstance(error, (SyntaxError, usage)) or not has_group(error):
            return plain(exc_tuple, *args, exception_only=exception_only, **kwargs)
        etype, error, tb = shell._get_exc_info(exc_tuple)
        try:
            report = report_of(etype, error, "Cell In[%s]").splitlines()
        except KeyboardInterrupt:
            report = quick(etype, error, tb)  # the error is what ended the program
        shell._showtraceback(etype, error, report)
        if shell.call_pdb:
            shell.debugger(force=True)

    shell.showtraceback = showtraceback


def has_group(error):
    seen = set()
    while error is not None and id(error) not in seen:
        if held(error):
            return True
        seen.add(id(error))
        error = error.__context__
    return False


def report_of(etype, error, cell='File "<cell %s>"'):
    """An error's traceback as python prints it, without what shows values."""
    without_own(error)
    report = "".join(traceback.format_exception(etype, error, without_shell(error.__traceback__)))
    return re.sub('File "([^"]+)"', lambda m: cell % cells()[m[1]] if m[1] in cells() else m[0], report)


def without_shell(tb):
    while tb is not None and tb.tb_frame.f_code.co_filename.startswith(SHELLS):
        tb = tb.tb_next
    return tb


def cells():
    """The numbers of cells by the names of the files that they are compiled as."""
    return getattr(shell.compile, "_filename_map", {})


def hook_tracebacks(formatter):
    """Has the traceback of a program that is to end come at once. IPython parses
    the source of each frame, which can take longer than such a program is given, and
    seconds for the thousands of an endless recursion."""
    plain = formatter.structured_traceback

    def structured_traceback(etype, evalue, tb=None, *args, **kwargs):
        if not interrupted(evalue) and not is_long(tb) and is_readable(evalue):
            try:
                return plain(etype, evalue, tb, *args, **kwargs)
            except KeyboardInterrupt:
                pass  # the error is what ended the program
        return quick(etype, evalue, tb)

    formatter.structured_traceback = structured_traceback


def is_readable(error):
    """Whether an error's message can be had: what its __str__ raises is not the program's
    error."""
    try:
        str(error)
        return True
    except Exception:
        return False


def interrupted(error):
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "CancelledError":
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def is_long(tb):
    for _ in range(10 * (HEAD + TAIL)):
        if tb is None:
            return False
        tb = tb.tb_next
    return True


def quick(etype, evalue, tb):
    """A traceback in IPython's words, with no more of the source than its lines."""
    chain, why = [], ""
    error = traceback.TracebackException(etype, evalue, without_shell(tb), lookup_lines=False)
    while error is not None:
        chain.append(["Traceback (most recent call last)", *frames(error), *lines(error), *why.splitlines()])
        hidden = error.__suppress_context__
        why = "\nDuring handling of the above exception, another exception occurred:\n"
        if error.__cause__ is not None:
            why = "\nThe above exception was the direct cause of the following exception:\n"
        error = error.__cause__ or (None if hidden else error.__context__)
    return [line for part in reversed(chain) for line in part]


def frames(error):
    stack = list(error.stack)
    if len(stack) > HEAD + TAIL:
        yield from map(frame, stack[:HEAD])
        yield "[%d frames are left out]" % (len(stack) - HEAD - TAIL)
        stack = stack[-TAIL:]
    yield from map(frame, stack)


def frame(f):
    number = cells().get(f.filename)
    place = "File %s:%d" % (f.filename, f.lineno) if number is None else "Cell In[%s], line %d" % (number, f.lineno)
    if f.name != "<module>":
        place += ", in %s()" % f.name
    line = linecache.getline(f.filename, f.lineno).rstrip("\n")
    return "%s\n----> %d %s" % (place, f.lineno, line) if line else place


def lines(error):
    return "".join(error.format_exception_only()).splitlines()
