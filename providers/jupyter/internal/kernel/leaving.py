# What ends a cell that awaits, other than its own code: SystemExit and KeyboardInterrupt
# in tasks, what handlers of signals raise, and interrupts. The kernel's loop would end of
# all but the last, and the kernel with it. They end the cell as they end a program whose
# loop it is: it is canceled, and what it makes of that changes nothing of the outcome.
# setup.py, which follows in one source, has the shell.

import asyncio, contextvars, functools, os, signal, sys, _signal


class Leaving:
    """Has the exits of tasks, and interrupts, end the cell."""

    def __init__(self, shell):
        self.shell = shell
        self.task = self.error = self.id = None  # of the cell that awaits; what is to end it; its run
        self.off, self.again = None, False  # an interrupt that waits; the next signal has it looked at again
        self.pid, self.context = os.getpid(), contextvars.copy_context()
        self.program, self.telling = type(shell).run_ast_nodes.__code__, {Handler.__call__.__code__}
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # of a kernel whose cells do not await
        kind = type(self)
        self.guarded = {f.__code__ for f in (kind.leave, kind.interrupt, kind.on_interrupt, kind.finish)}
        self.telling |= {f.__code__ for f in (kind.run, kind.end_by, kind.stopped)}
        self.hook_handles()
        self.hook_shell()
        self.hook_signals()
        self.hook_stop()

    def hook_handles(self):
        plain, leaving = asyncio.Handle._run, self

        def _run(handle):
            try:
                plain(handle)
            except (SystemExit, KeyboardInterrupt) as error:
                if handle._loop is not leaving.loop or os.getpid() != leaving.pid or not leaving.leave(error, handle):
                    raise

        asyncio.Handle._run = _run
        self.steps = plain.__code__, _run.__code__

    def hook_shell(self):
        """Has a cell that is to end show no error of its own, and no value."""
        show, quiet, evaluate = self.shell.showtraceback, self.shell.displayhook.quiet, self.shell.user_expressions

        def showtraceback(*args, **kwargs):
            if self.error is None or args:
                show(*args, **kwargs)

        def user_expressions(*args, **kwargs):
            return evaluate(*args, **kwargs)

        self.telling |= {showtraceback.__code__, user_expressions.__code__}
        self.shell.showtraceback, self.shell.user_expressions = showtraceback, user_expressions
        self.shell.displayhook.quiet = lambda: self.error is not None or quiet()

    def hook_signals(self):
        """Has handlers be the program's for all that it sees, and where the cell's own is
        in their place, python's."""
        put, get = signal.signal, signal.getsignal

        def told(handler):
            return handler.plain if type(handler) is Handler else signal.default_int_handler if handler == self.on_interrupt else handler

        @functools.wraps(put)
        def set_handler(signalnum, handler):
            if handler is signal.default_int_handler and self.task is not None and signalnum == signal.SIGINT:
                handler = self.on_interrupt
            elif callable(handler):
                handler = Handler(self, handler)
            return told(put(signalnum, handler))

        @functools.wraps(get)
        def getsignal(signalnum):
            return told(get(signalnum))

        signal.signal, signal.getsignal = set_handler, getsignal

    def hook_stop(self):
        """Has loop.stop end what awaits, as that of a loop which is the program's does, and
        not the kernel."""
        loop, kernel = self.loop, getattr(self.shell.kernel, "io_loop", None)
        if getattr(kernel, "asyncio_loop", None) is not loop:
            return
        plain = loop.stop

        @functools.wraps(plain)
        def stop():
            if os.getpid() != self.pid or getattr(loop, "_num_runs_pending", 1) > 1:
                plain()  # of nest_asyncio
            elif self.task is not None and run_of.get() in (None, self.id):
                loop.call_soon_threadsafe(self.stopped, self.task)

        kernel.stop = plain
        try:
            loop.stop = stop
        except AttributeError:
            pass  # of a loop that is no python

    def stopped(self, task):
        if task is self.task:
            self.stop(RuntimeError("Event loop stopped before Future completed."))

    def raised(self, error):
        """Has what a handler of a signal raised while the loop waits, or the kernel is at
        work, end the cell that awaits."""
        error.__traceback__ = error.__traceback__.tb_next
        # The client takes nothing of what belongs to its hidden requests.
        self.loop.call_soon_threadsafe(self.end_by, self.task, error, context=of_last(self.context))

    def end_by(self, task, error):
        if task is not None and task is self.task:
            self.stop(error)
        else:
            print(HANDLED + report_of(type(error), error), end="", file=sys.stderr, flush=True)

    def leave(self, error, handle):
        """Has what a callback of the loop raised end the cell, or no more than the task:
        an exit is no end of another run than its task's. Returns whether it is dealt with."""
        tb = error.__traceback__
        while tb is not None and tb.tb_frame.f_code in (*self.steps, Handler.__call__.__code__):
            tb = tb.tb_next
        error.__traceback__ = relinked(tb, lambda frame: frame.f_code.co_filename == OWN)
        see(getattr(handle._callback, "__self__", None))
        foreign = tb is not None and tb.tb_frame.f_code.co_filename.startswith(SHELLS)
        if foreign and isinstance(error, KeyboardInterrupt):
            return False  # it hit the kernel
        if self.task is not None and not (isinstance(error, SystemExit) and self.is_earlier(handle)):
            self.stop(error)
        elif not foreign:
            self.tell(error, handle)
        return True

    def is_earlier(self, handle):
        run = handle._context.get(run_of)
        return run is not None and run != self.id

    def stop(self, error):
        """Ends the cell. The first cause of that is its outcome."""
        first = self.error is None
        if first:
            self.error = error
        if first or isinstance(error, KeyboardInterrupt):
            self.task.cancel()

    def tell(self, error, handle):
        """Prints, as the task would, what ended it."""

        def say():
            print(LEFT + report_of(type(error), error), end="", file=sys.stderr, flush=True)

        try:
            handle._context.run(say)
        except Exception:
            pass  # there is nobody to tell

    def on_interrupt(self, number, frame):
        """Ends what computes at once, and what waits in the loop by the loop."""
        again, self.again = self.again, False
        if again and self.off is None:
            return  # the loop was first
        off = self.off or PutOff()
        if self.is_inside(frame) and not waits(off, frame):
            self.off = None
            raise KeyboardInterrupt
        if self.off is None:
            self.off = off
            self.loop.call_soon_threadsafe(self.interrupt, self.task, off)
        self.again, again = True, Again()

    def interrupt(self, task, off):
        if off is self.off:
            self.off = None
            if task is not None and task is self.task:
                self.stop(KeyboardInterrupt())

    def is_foreign(self, name):
        return name == OWN or name.startswith(SHELLS)

    def is_inside(self, frame):
        """Whether a signal came upon the program, in a callback of the loop."""
        first, program = frame, False
        while frame is not None:
            code = frame.f_code
            if code in self.guarded or frame is first and code is type(self).run.__code__:
                return False
            if code is self.steps[1]:
                handle = frame.f_locals["handle"]
                if handle._loop is self.loop:
                    return frame is not first and (program or self.task is not None and handle._context.get(run_of) == self.id)
            name = code.co_filename
            # What the library makes of strings, as named tuples, has that name too.
            program = program or not self.is_foreign(name) and not is_standard(name) and name != "<string>"
            frame = frame.f_back
        return False

    def takes(self, frame):
        """Whether what a signal has come upon can take what its handler raises. What tells
        of errors, or works for the client, would lose that, or itself."""
        inner, outer = frame, None
        while inner is not None and inner.f_code is not self.program:
            if inner.f_code in self.telling:
                return False
            if inner.f_code is self.steps[1] and inner.f_locals["handle"]._loop is self.loop:
                if outer is not None and outer.f_code.co_filename.startswith(SHELLS):
                    return False  # of the kernel, whatever else it uses
                break
            if inner.f_code is not self.steps[0]:
                outer = inner
            inner = inner.f_back
        if inner is not None and inner.f_code is self.program and is_hidden(self.shell):
            return False
        return self.is_inside(frame)

    async def run(self, result, cell):
        """Runs a cell, and returns whether it failed."""
        self.task, self.error, self.id = asyncio.current_task(), None, run_of.get()
        try:
            before = _signal.signal(_signal.SIGINT, self.on_interrupt)
        except ValueError:
            before = None  # in a thread that gets no signals
        failed = True
        try:
            failed = await cell
        except asyncio.CancelledError:
            if self.error is None:
                raise
        finally:
            failed = self.finish(result, before) or failed
        return failed

    def finish(self, result, before):
        """Has the cell end by what stopped it. Returns whether anything did."""
        error, self.error, self.task, self.off = self.error, None, None, None
        if before is not None and _signal.getsignal(_signal.SIGINT) == self.on_interrupt:
            _signal.signal(_signal.SIGINT, before)
        if error is None:
            return False
        if result is not None:
            if error.__traceback__ is None and result.error_in_exec is not None:
                error.__traceback__ = result.error_in_exec.__traceback__  # where it was, or what it made of the end
            result.error_in_exec = error
        self.shell.showtraceback((type(error), error, error.__traceback__), tb_offset=0, exception_only=isinstance(error, SystemExit))
        return True


class Handler:
    """A handler of the program's for a signal."""

    def __init__(self, leaving, plain):
        self.leaving, self.plain = leaving, plain

    def __call__(self, number, frame):
        try:
            return self.plain(number, frame)
        except BaseException as error:
            if os.getpid() != self.leaving.pid or self.leaving.takes(frame):
                raise
            self.leaving.raised(error)


def is_hidden(shell):
    """Whether the present cell is a silent one, such as what prepares the next program."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else shell.parent_header
    return bool(parent.get("content", {}).get("silent"))


def of_last(context):
    """A context in which what is printed belongs to the program under way, or the last."""
    context = context.copy()
    for parent in parents:
        context.run(parent.set, {})
    return context


def see(task):
    """Has no more told of what ended a task, as would be once the task is forgotten."""
    if isinstance(task, asyncio.Future) and task.done() and not task.cancelled():
        task.exception()


HANDLED = "Exception in a handler of a signal, when no run awaited:\n"
LEFT = "Exception in a task of a run that is over:\n"
