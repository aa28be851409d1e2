# What the end of a process does, for a kernel's only program, and for children that a
# program forks. setup.py, which follows in one source, has the shell.

import atexit, gc, io, sys, threading

register = atexit.register  # with the process, whatever Exits makes of it


def at_exit(call):
    """Calls at the end of the process, also of one that then waits in vain for
    the program's threads."""
    register(call)
    try:
        threading._register_atexit(call)
    except Exception:
        pass


KERNEL = {"zmq", "ipykernel", "IPython", "jupyter_client", "tornado"}


class Exits:
    """What the program registers with atexit. It is called where a process would
    end: after a kernel's only program, else with the kernel, when nobody listens."""

    def __init__(self):
        self.calls = []
        register(self.run)
        self.plain_unregister = atexit.unregister
        atexit.register, atexit.unregister = self.register, self.unregister

    def register(self, func, /, *args, **kwargs):
        # The kernel's own, such as zmq's first large message brings, is for its end:
        # without it nothing large is sent any more.
        if (getattr(func, "__module__", None) or "").partition(".")[0] in KERNEL:
            return register(func, *args, **kwargs)
        self.calls.append((func, args, kwargs))
        return func

    def unregister(self, func, /):
        self.calls[:] = [call for call in self.calls if call[0] != func]
        self.plain_unregister(func)

    def run(self):
        while self.calls:
            func, args, kwargs = self.calls.pop()
            try:
                func(*args, **kwargs)
            except KeyboardInterrupt:
                raise
            except SystemExit:
                pass
            except BaseException as error:
                print("Exception ignored in atexit callback:", repr(func), file=sys.stderr)
                print(report_of(type(error), error), end="", file=sys.stderr)


def let_go(quiet):
    """Has files written that the program left open, as the end of a process does:
    by the end of its variables, unless something that it started may use them."""
    # They hold the frames of the last error, and with these the program's variables.
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        sys.__dict__.pop(name, None)
    flush_files()
    names, hidden = shell.user_ns, shell.user_ns_hidden
    if quiet:
        for outputs in (names.get("_oh"), hidden.get("_oh")):
            if type(outputs) is dict:  # and no variable of the program's
                outputs.clear()
        for name in [n for n in names if n not in hidden or names[n] is not hidden[n]]:
            names.pop(name, None)
        gc.collect()
        flush_files()


def flush_logs():
    """Has handlers write what they hold, as logging does at the end of a process."""
    logging = sys.modules.get("logging")
    for ref in reversed(getattr(logging, "_handlerList", ())):
        try:
            handler = ref()
            if getattr(handler, "flushOnClose", True):
                handler.flush()
        except (Exception, SystemExit):
            pass


def flush_files():
    for obj in gc.get_objects():
        # By type(): isinstance asks objects that answer what they like.
        if issubclass(type(obj), (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)):
            try:
                obj.flush()
            except Exception:
                pass


def join_threads(but):
    """Waits for threads, as the end of a process does."""
    for kind in ("thread", "process"):
        end_pools = getattr(sys.modules.get("concurrent.futures." + kind), "_python_exit", None)
        if end_pools:
            end_pools()
    for thread in threading.enumerate():
        if thread not in but and not thread.daemon:
            thread.join()
