# SystemExit in tasks. The kernel's loop would end of it, and the kernel with it. It ends
# the cell that awaits meanwhile, as it ends the program where the loop is the program's
# own; with no such cell it ends its task. setup.py, which follows in one source, has
# the shell.

import asyncio, os


class Leaving:
    """Has the exits of tasks end the cell."""

    def __init__(self):
        self.task = self.error = None  # of the cell that awaits; the exit that is to end it
        self.pid = os.getpid()
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # of a kernel whose cells do not await
        plain, leaving = asyncio.Handle._run, self

        def _run(handle):
            try:
                plain(handle)
            except SystemExit as error:
                if handle._loop is not leaving.loop or os.getpid() != leaving.pid:
                    raise
                leaving.leave(error)

        asyncio.Handle._run = _run

    def leave(self, error):
        if self.task is not None and self.error is None:
            self.error = error
            self.task.cancel()

    async def run(self, coroutine):
        """Runs a cell."""
        self.task, self.error = asyncio.current_task(), None
        try:
            return await Left(self, coroutine)
        finally:
            self.task = self.error = None


class Left:
    """Awaits a coroutine, in which an exit is raised in place of the cancelation that it
    asked for."""

    def __init__(self, leaving, coroutine):
        self.leaving, self.coroutine = leaving, coroutine

    def __await__(self):
        coroutine, leaving = self.coroutine, self.leaving
        resume, given = coroutine.send, None
        while True:
            try:
                waits = resume(given)
            except StopIteration as end:
                return end.value
            try:
                resume, given = coroutine.send, (yield waits)
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                resume, given = coroutine.throw, error
                if leaving.error is not None and isinstance(error, asyncio.CancelledError):
                    given, leaving.error = leaving.error, None
