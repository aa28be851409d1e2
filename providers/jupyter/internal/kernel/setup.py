import asyncio, base64, functools, json, os, shutil, signal, sys, tempfile, threading, _signal

VALUE = "application/vnd.toolcell.value"

shell = __import__("IPython").get_ipython()


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
    """Makes exit() and quit() what they are outside of IPython, and sys.exit
    quiet: the kernel lives on either way."""

    class Exit(type(shell.exiter)):
        def __call__(self, code=None):
            raise SystemExit(code)

    # The object itself: it is exit and quit in the user's namespace already.
    shell.exiter.__class__ = Exit
    show = shell._showtraceback

    def showtraceback(etype, evalue, stb):
        if isinstance(evalue, SystemExit):
            if evalue.code is not None and not isinstance(evalue.code, int):
                print(evalue.code, file=sys.stderr, flush=True)
            evalue = SystemExit(exit_code(evalue))
        evalue = as_told(evalue)
        show(type(evalue) if isinstance(evalue, BaseException) else etype, evalue, stb)

    shell._showtraceback = showtraceback
    module = sys.modules.get("IPython.core.interactiveshell")
    warn = getattr(module, "warn", None)
    if warn is not None:

        def quiet(message, *args, **kwargs):
            if not str(message).startswith("To exit: use"):
                # For the frame of this function.
                kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
                warn(message, *args, **kwargs)

        module.warn = quiet


def exit_code(error):
    """What the process would exit with."""
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else 1


def as_told(error):
    """An error that the kernel can tell: it asks for the message, and goes by the name."""
    if isinstance(error, SystemExit) and type(error) is not SystemExit:
        return SystemExit(exit_code(error))
    if is_readable(error):
        return error
    return type(type(error).__name__, (Exception,), {})(UNREADABLE)


def hook_asyncio():
    """Lets loops of the program's own run in a cell, beside the kernel's, which
    stands still meanwhile as it does for all code that does not await. What would
    run in the kernel's runs in one beside it."""
    swap = getattr(asyncio.tasks, "_swap_current_task", None)

    def apart(plain, of_loop=False):
        @functools.wraps(plain)
        def run(*args, **kwargs):
            loop = asyncio._get_running_loop()
            if loop is None or of_loop and args[0] is loop and not takes_over(*args[1:], **kwargs):
                return plain(*args, **kwargs)
            if of_loop and args[0] is loop:
                args = (beside(), *args[1:])
            asyncio._set_running_loop(None)
            task = swap(loop, None) if swap else None
            try:
                return plain(*args, **kwargs)
            finally:
                # asyncio.run has left none.
                asyncio.set_event_loop(loop)
                asyncio._set_running_loop(loop)
                if swap:
                    swap(loop, task)

        return run

    def takes_over(future=None):
        return asyncio.iscoroutine(future)  # a task is bound to its loop

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


def hook_parser(shell):
    """Has code that is nested too deeply for the compiler run into that as any
    other error does: the kernel asks whether it awaits where it expects none."""
    plain = getattr(shell, "should_run_async", None)
    if plain is None:
        return

    def should_run_async(*args, **kwargs):
        try:
            return plain(*args, **kwargs)
        except Exception:
            return False

    shell.should_run_async = should_run_async


def tasks():
    try:
        return asyncio.all_tasks()
    except RuntimeError:
        return ()


def generators():
    """The asynchronous generators that the loop has begun and not ended."""
    try:
        return list(asyncio.get_running_loop()._asyncgens)
    except (RuntimeError, AttributeError):
        return []


def of_kernel(task):
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "/ipykernel/" in code.co_filename.replace(os.sep, "/")


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
        self.id = asked(shell)["msg_id"]
        count = getattr(result, "execution_count", None) or shell.execution_count - 1
        if result is None:
            # An interrupt between IPython's own steps: it is on its way out.
            error = sys.exc_info()[1]
        else:
            error = result.error_before_exec or result.error_in_exec
        self.reply = {"status": "ok", "execution_count": count}
        if error is not None:
            try:
                text = str(exit_code(error) if isinstance(error, SystemExit) else error)
            except Exception:
                text = ""
            self.reply.update(status="error", ename=type(error).__name__, evalue=text[: self.LENGTH], traceback=[])

    def tell(self, id):
        """The reply to a request in base64, "" where it is not known."""
        if self.reply is None or self.id != id:
            return ""
        return base64.b64encode(json.dumps(self.reply).encode()).decode()


class Helper:
    """What the client calls through hidden requests."""

    def __init__(self, options, drain):
        self.saved, self.private, self.once = [], None, False
        self.drain = drain
        self.home = os.getcwd()
        self.files = Files(shell.kernel)
        self.spool = Spool(shell)
        self.last, self.exits = Last(), Exits()
        self.threads = set(threading.enumerate())
        self.tasks, self.generators = set(tasks()), generators()
        shell.events.register("post_run_cell", self.wait)
        shell.events.register("post_execute", keep_environ)
        if options.get("spill"):
            self.spool.hook(sys.stdout, sys.stderr)  # after wait: what it has printed is the run's

    def finish_child(self):
        join_threads(self.threads | {threading.current_thread()})
        self.exits.run()
        flush_logs()
        flush_files()
        c_flusher()()

    async def end_tasks(self):
        """Ends the tasks and asynchronous generators that a kernel's only program left, as
        asyncio.run does."""
        if not self.once:
            return
        await asyncio.sleep(0)  # what closes a generator that was dropped becomes a task
        left = [t for t in tasks() if t not in self.tasks and not of_kernel(t) and t is not asyncio.current_task()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        tell = asyncio.get_running_loop().call_exception_handler
        for task in left:
            if task.done() and not task.cancelled() and task.exception() is not None:
                tell({"message": "unhandled exception when the run ended", "exception": task.exception(), "task": task})
        open = [g for g in generators() if g not in self.generators]
        for generator, closed in zip(open, await asyncio.gather(*(g.aclose() for g in open), return_exceptions=True)):
            if isinstance(closed, Exception):
                tell({"message": "an error occurred as an asynchronous generator was closed", "exception": closed, "asyncgen": generator})

    def outcome(self, id):
        return self.last.tell(id)

    def offer(self, args):
        self.pump.offer(args)

    def decode(self, text):
        return base64.b64decode(text)

    def variables(self, env):
        for name, value in env.items():
            yield os.fsdecode(self.decode(name)), os.fsdecode(self.decode(value))

    def directory(self, args):
        if args["dir"]:
            path = os.path.join(tempfile.gettempdir(), args["dir"])
            os.makedirs(path, 0o700, exist_ok=True)
            os.chdir(path)
        elif args["private"]:
            self.private = tempfile.mkdtemp(prefix="toolcell-")
            os.chdir(self.private)
            at_exit(self.clear)
        elif args["cwd"]:
            os.chdir(os.path.join(self.home, os.fsdecode(self.decode(args["cwd"]))))
        else:
            return
        self.files.here()

    def wait(self, result):
        """Waits for the threads of a kernel's only program, as the end of a
        process does. An interrupt ends the wait."""
        if not self.once:
            return
        old = _signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            join_threads(self.threads)
            self.exits.run()
            flush_logs()
            let_go(not self.left())
            self.drain()
        except KeyboardInterrupt:
            pass
        finally:
            _signal.signal(signal.SIGINT, old)

    def start(self, args):
        self.once = args["once"]
        self.directory(args)
        environ.update(self.variables(args["env"]))

    def clear(self):
        if self.private:
            shutil.rmtree(self.private, ignore_errors=True)

    def remove(self, name):
        shutil.rmtree(os.path.join(tempfile.gettempdir(), name), ignore_errors=True)

    def enter(self, args):
        self.leave()
        self.once = self.once or args["private"]
        self.directory(args)
        for name, value in self.variables(args["env"]):
            self.saved.append(undoing(name, value))
            assign(name, value)
        restore = give_input(shell.kernel, None if args["stdin"] is None else self.decode(args["stdin"]))
        if restore is not None:
            self.saved.append(restore)

    def leave(self):
        while self.saved:
            self.saved.pop()()

    def left(self):
        """Whether threads or tasks of the program are there."""
        if any(thread not in self.threads and thread not in own for thread in threading.enumerate()):
            return True
        return any(task not in self.tasks and not of_kernel(task) for task in tasks())

    def idle(self):
        """Whether nothing that the program started runs on."""
        if self.left():
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
    sys.argv[:] = [""]  # the kernel's own arguments are nothing to a program that parses its
    hook_values(shell.displayhook)
    hook_exit(shell)
    shell.user_ns.pop("open", None)  # IPython's refuses sys.stdout.fileno()
    hook_errors(shell)
    hook_tracebacks(shell.InteractiveTB)
    hook_input(shell.kernel)
    hook_asyncio()
    hook_parser(shell)
    hook_environ()
    check_messages(shell.kernel.session)
    hold_messages(shell.kernel)
    drain = hook_streams(shell)
    hook_threads(shell)
    hook_steady(shell)
    hook_formats(shell, drain)
    shell._toolcell = Helper(options, drain)
    pump = shell._toolcell.pump = Pump(shell)  # after the helper, which waits for a program's threads
    forks = Forks(shell, shell._toolcell)
    shell._toolcell.gate = Gate(shell.kernel.session)  # the last: what it lets in finds all of it
