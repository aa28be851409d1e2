# The helper that the client calls by hidden requests.

import asyncio, base64, functools, json, os, shutil, sys, tempfile, threading, warnings

VALUE = "application/vnd.toolcell.value"

shell = __import__("IPython").get_ipython()


def request_of(shell):
    """The header of the request that the present cell answers."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else shell.parent_header
    return parent["header"]


def hook_values(hook):
    """Adds the JSON form to what is sent for the value of a cell."""
    plain = hook.compute_format_data

    def compute_format_data(result):
        data, metadata = plain(result)
        text = to_json(result)
        if text:
            data = dict(data)
            data[VALUE] = text
        return data, metadata

    hook.compute_format_data = compute_format_data


def hook_exit(shell):
    """Makes exit() and quit() raise SystemExit, as they do outside of IPython, without
    IPython's advice."""

    class Exit(type(shell.exiter)):
        def __call__(self, code=None):
            raise SystemExit(code)

    # The object itself: it is exit and quit in the user's namespace already.
    shell.exiter.__class__ = Exit
    warnings.filterwarnings("ignore", "To exit: use")


def hook_asyncio():
    """Lets asyncio.run and loops of the program's own run in a cell, beside the kernel's
    loop, which waits meanwhile."""
    swap = getattr(asyncio.tasks, "_swap_current_task", None)

    def apart(plain, of_loop=False):
        @functools.wraps(plain)
        def run(*args, **kwargs):
            __tracebackhide__ = True
            loop = asyncio._get_running_loop()
            if loop is None or of_loop and args[0] is loop and not asyncio.iscoroutine(args[1] if len(args) > 1 else None):
                return plain(*args, **kwargs)
            if of_loop and args[0] is loop:
                args = (beside(), *args[1:])
            asyncio._set_running_loop(None)
            task = swap(loop, None) if swap else None
            try:
                return plain(*args, **kwargs)
            finally:
                asyncio.set_event_loop(loop)
                asyncio._set_running_loop(loop)
                if swap:
                    swap(loop, task)

        return run

    loops = []

    def beside():
        if not loops or loops[0].is_closed():
            loops[:] = [asyncio.new_event_loop()]
        return loops[0]

    asyncio.run = apart(asyncio.run)
    of = asyncio.BaseEventLoop
    of.run_until_complete, of.run_forever = apart(of.run_until_complete, True), apart(of.run_forever, True)
    if hasattr(asyncio, "Runner"):
        asyncio.Runner.run = apart(asyncio.Runner.run)


class Last:
    """How the last cell ended, for a client that lost the reply."""

    LENGTH = 8 << 10

    def __init__(self):
        self.id, self.reply = None, None
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)

    def begin(self, info):
        self.id = self.reply = None

    def end(self, result):
        self.id = request_of(shell)["msg_id"]
        error = sys.exc_info()[1] if result is None else result.error_before_exec or result.error_in_exec
        self.reply = {"status": "ok", "execution_count": getattr(result, "execution_count", None) or shell.execution_count - 1}
        if error is not None:
            text = str(exit_code(error)) if isinstance(error, SystemExit) else traceback.format_exception_only(type(error), error)[-1]
            self.reply.update(status="error", ename=type(error).__name__, evalue=text[: self.LENGTH], traceback=[])

    def report(self, id):
        """The reply to a request in base64, "" where it is not known. An empty id is that of
        the last one."""
        if self.reply is None or id and self.id != id:
            return ""
        return base64.b64encode(json.dumps({**self.reply, "id": self.id}).encode()).decode()


class Helper:
    """What the client calls through hidden requests."""

    def __init__(self, drain):
        self.saved, self.once = [], False
        self.drain, self.home, self.pid = drain, os.getcwd(), os.getpid()
        self.files, self.outcome = Files(shell.kernel), Last().report
        self.threads = set(threading.enumerate())
        shell.events.register("post_run_cell", self.end)

    def end(self, result):
        """Ends a forked child where the cell ends, and waits for the threads of a kernel's
        only program, as a process does."""
        if os.getpid() != self.pid:
            os._exit(0 if result is None or result.success else 1)
        if not self.once:
            return
        try:
            end_pools = getattr(sys.modules.get("concurrent.futures.thread"), "_python_exit", None)
            if end_pools:
                end_pools()
            for thread in threading.enumerate():
                if thread not in self.threads and thread not in own and not thread.daemon:
                    thread.join()
            self.drain()
        except KeyboardInterrupt:
            pass

    def decode(self, text):
        return base64.b64decode(text)

    def directory(self, args):
        if args["dir"]:
            path = os.path.join(tempfile.gettempdir(), args["dir"])
            os.makedirs(path, 0o700, exist_ok=True)
            os.chdir(path)
        elif args["cwd"]:
            os.chdir(os.path.join(self.home, os.fsdecode(self.decode(args["cwd"]))))
        else:
            return
        self.files.here()

    def set_environ(self, args):
        """Sets variables, and returns what restores them."""
        env = {os.fsdecode(self.decode(name)): os.fsdecode(self.decode(value)) for name, value in args["env"]}
        before = {name: os.environ.get(name) for name in env}
        os.environ.update(env)

        def restore():
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

        return restore

    def start(self, args):
        self.once = args["once"]
        self.directory(args)
        self.set_environ(args)

    def enter(self, args):
        self.leave()
        self.saved.append(self.set_environ(args))
        if args["stdin"] is not None:
            self.saved.append(give_input(self.decode(args["stdin"])))

    def leave(self):
        while self.saved:
            self.saved.pop()()

    def finish(self, name):
        """Removes the private directory, and reports whether nothing that the program
        started runs on."""
        if name:
            shutil.rmtree(os.path.join(tempfile.gettempdir(), name), ignore_errors=True)
        if any(thread not in self.threads and thread not in own for thread in threading.enumerate()):
            return False
        try:
            for task in os.listdir("/proc/self/task"):
                with open("/proc/self/task/%s/children" % task) as f:
                    if f.read().strip():
                        return False
        except OSError:
            return False
        return True


if not hasattr(shell, "_toolcell"):
    sys.argv[:] = [""]  # the kernel's own arguments are of no use to a program
    hook_values(shell.displayhook)
    hook_exit(shell)
    hook_errors(shell)
    hook_input(shell.kernel)
    hook_asyncio()
    carry_contexts()
    check_messages(shell.kernel.session)
    hold_messages(shell.kernel)
    drain = hook_streams(shell)
    shell._toolcell = Helper(drain)
    pump = Pump(shell)  # after the helper, which waits for a program's threads
    shell._toolcell.offer = pump.offer
