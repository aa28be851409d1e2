# SystemExit in tasks. The kernel's loop would end of it, and the kernel with it. It ends
# the cell as it ends a program whose loop it is: the cell is canceled, and what it makes
# of that changes nothing of the outcome. setup.py, which follows in one source, has the
# shell.

import asyncio, os, sys


class Leaving:
    """Has the exits of tasks end the cell."""

    def __init__(self, shell):
        self.shell = shell
        self.task = self.error = self.id = None  # of the cell that awaits; what is to end it; its run
        self.pid = os.getpid()
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # of a kernel whose cells do not await
        self.hook_handles()
        self.hook_shell()

    def hook_handles(self):
        plain, leaving = asyncio.Handle._run, self

        def _run(handle):
            try:
                plain(handle)
            except SystemExit as error:
                if handle._loop is not leaving.loop or os.getpid() != leaving.pid:
                    raise
                leaving.leave(error, handle)

        asyncio.Handle._run = _run
        self.steps = plain.__code__, _run.__code__

    def hook_shell(self):
        """Has a cell that is to end show no error of its own, and no value."""
        show, quiet = self.shell.showtraceback, self.shell.displayhook.quiet

        def showtraceback(*args, **kwargs):
            if self.error is None or args:
                show(*args, **kwargs)

        self.shell.showtraceback = showtraceback
        self.shell.displayhook.quiet = lambda: self.error is not None or quiet()

    def leave(self, error, handle):
        """Has what a callback of the loop raised end the cell, or no more than the task:
        an exit is no end of another run than its task's."""
        tb = error.__traceback__
        while tb is not None and tb.tb_frame.f_code in self.steps:
            tb = tb.tb_next
        error.__traceback__ = tb
        see(getattr(handle._callback, "__self__", None))
        if self.task is not None and not self.is_earlier(handle):
            self.stop(error)
        else:
            self.tell(error, handle)

    def is_earlier(self, handle):
        run = handle._context.get(run_of)
        return run is not None and run != self.id

    def stop(self, error):
        """Ends the cell. The first cause of that is its outcome."""
        if self.error is None:
            self.error = error
            self.task.cancel()

    def tell(self, error, handle):
        """Prints, as the task would, what ended it."""

        def say():
            print(LEFT + report_of(type(error), error), end="", file=sys.stderr, flush=True)

        try:
            handle._context.run(say)
        except Exception:
            pass  # there is nobody to tell

    async def run(self, result, cell):
        """Runs a cell, and returns whether it failed."""
        self.task, self.error, self.id = asyncio.current_task(), None, run_of.get()
        failed = True
        try:
            failed = await cell
        except asyncio.CancelledError:
            if self.error is None:
                raise
        finally:
            failed = self.finish(result) or failed
        return failed

    def finish(self, result):
        """Has the cell end by what stopped it. Returns whether anything did."""
        error, self.error, self.task = self.error, None, None
        if error is None:
            return False
        if result is not None:
            result.error_in_exec = error
        self.shell.showtraceback((type(error), error, error.__traceback__), tb_offset=0, exception_only=True)
        return True


def see(task):
    """Has no more told of what ended a task, as would be once the task is forgotten."""
    if isinstance(task, asyncio.Future) and task.done() and not task.cancelled():
        task.exception()


LEFT = "Exception in a task of a run that is over:\n"
