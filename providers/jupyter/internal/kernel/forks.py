# Processes that a program forks off. A child has all that the kernel has: what it
# says would be taken for the program's, and what it hears the kernel does not. It
# ends where the cell ends, as a child of python's own does where its program ends.
# setup.py, which follows in one source, has the shell.

import asyncio, collections, contextvars, io, os, signal, sys, threading

SAID = ("stream", "display_data", "update_display_data", "clear_output")  # by a child too

in_cell = contextvars.ContextVar("in_cell", default=False)
awaits = contextvars.ContextVar("awaits", default=True)  # whether a cell can


class Forks:
    """Ends the children of programs."""

    def __init__(self, shell, helper):
        self.shell, self.helper, self.pid = shell, helper, os.getpid()
        self.session, self.streams = shell.kernel.session, (sys.stdout, sys.stderr)
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            self.loop = None
        self.leaving = Leaving(shell)
        self.hook_messages()
        self.hook_cells()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forked)

    def is_child(self):
        return os.getpid() != self.pid

    def forked(self):
        """Lets the child say what it prints, which takes locks that a thread may have
        held that it has not, and nothing that its parent printed."""
        self.session.pid = os.getpid()
        self.helper.spool.forked()
        for stream in self.streams:
            if hasattr(stream, "_buffers"):
                stream._buffers, stream._buffer_lock = collections.defaultdict(io.StringIO), threading.RLock()
            elif hasattr(stream, "_buffer"):  # ipykernel before 6.29
                stream._buffer, stream._buffer_lock = io.StringIO(), threading.RLock()
        if self.loop is not None:
            # What a task forked off may go back to the loop, and would do the kernel's work.
            self.loop.call_soon(self.end, None)

    def hook_messages(self):
        send = self.session.send

        def send_own(stream, message, *args, **kwargs):
            kind = message.get("msg_type") if isinstance(message, dict) else message
            if kind in SAID:
                Said.anything = True
            if not self.is_child() or kind in SAID:
                return send(stream, message, *args, **kwargs)

        self.session.send = send_own

    def hook_cells(self):
        run, show, run_cell = self.shell.run_ast_nodes, self.shell._showtraceback, self.shell.run_cell

        def run_sync(*args, **kwargs):
            token = awaits.set(False)
            try:
                return run_cell(*args, **kwargs)
            finally:
                awaits.reset(token)

        self.shell.run_cell = run_sync

        async def whole(*args, **kwargs):
            failed = await run(*args, **kwargs)
            if not self.is_child():
                await self.helper.end_tasks()
            return failed

        async def run_ast_nodes(*args, **kwargs):
            if in_cell.get():
                return await run(*args, **kwargs)
            in_cell.set(True)
            result = kwargs.get("result")
            try:
                # What cannot await has no task of its own.
                failed = await (self.leaving.run(result, whole(*args, **kwargs)) if awaits.get() else run(*args, **kwargs))
                if getattr(result, "error_in_exec", None) is not None:
                    result.error_in_exec = as_told(result.error_in_exec)
                return failed
            finally:
                in_cell.set(False)
                if self.is_child():
                    self.end(sys.exc_info()[1] or getattr(result, "error_in_exec", None))

        def showtraceback(etype, evalue, stb):
            if not self.is_child():
                show(etype, evalue, stb)
            elif not isinstance(evalue, SystemExit):
                print(report_of(etype, evalue), end="", file=sys.stderr)
            elif evalue.code is not None and not isinstance(evalue.code, int):
                print(evalue.code, file=sys.stderr)

        self.shell.run_ast_nodes, self.shell._showtraceback = run_ast_nodes, showtraceback

    def end(self, error):
        """Ends the child."""
        code = 0 if error is None else exit_code(error) if isinstance(error, SystemExit) else 1
        try:
            self.helper.finish_child()
            flush()
            if isinstance(error, KeyboardInterrupt):
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGINT)
        finally:
            os._exit(code)
