import _thread, asyncio, atexit, base64, codecs, io, json, os, shutil, sys, tempfile, threading, time

VALUE = "application/vnd.toolcell.value"
SPILL = "application/vnd.toolcell.spill"

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

    shell.exiter.__class__ = Exit
    module = sys.modules.get("IPython.core.interactiveshell")
    warn = getattr(module, "warn", None)
    if warn is not None:

        def quiet(message, *args, **kwargs):
            if not str(message).startswith("To exit: use"):
                kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
                warn(message, *args, **kwargs)

        module.warn = quiet


def decoder():
    """Bytes that are no UTF-8 travel as lone surrogates, which the kernel turns
    back, where the protocol to the client can carry them."""
    if options.get("raw"):
        return lambda data: data.decode("utf-8", "surrogateescape")
    return codecs.getincrementaldecoder("utf-8")("replace").decode


class Buffer(io.RawIOBase):
    """The bytes side of a stream, which IPython's streams lack."""

    def __init__(self, stream):
        self.stream, self.decode = stream, decoder()

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self.stream.write(self.decode(data))
        return len(data)

    def flush(self):
        self.stream.flush()

    def fileno(self):
        return self.stream.fileno()


class Pipe:
    """Reads what child processes and C code write to a file descriptor. The
    kernel's own reader breaks characters that lie across its reads, and what
    it has not read when a cell ends comes after the end."""

    def __init__(self, stream):
        self.stream, self.busy, self.decode = stream, False, decoder()
        self.fd, end = os.pipe()
        os.dup2(end, stream._original_stdstream_fd)
        os.close(end)
        _thread.start_new_thread(self.read, ())

    def read(self):
        while True:
            self.busy = False
            data = os.read(self.fd, 1 << 16)
            self.busy = True
            if not data:
                return
            try:
                self.stream.write(self.decode(data))
            except Exception:
                return

    def pending(self):
        import fcntl, struct, termios

        size = struct.unpack("i", fcntl.ioctl(self.fd, termios.FIONREAD, b"\0" * 4))[0]
        return size > 0 or self.busy

    def drain(self):
        end = time.monotonic() + 0.5
        while self.pending() and time.monotonic() < end:
            time.sleep(0.0005)


def hook_streams(shell):
    pipes = []
    for stream in (sys.stdout, sys.stderr):
        try:
            if not hasattr(stream, "buffer"):
                stream.buffer = Buffer(stream)
            if getattr(stream, "_should_watch", False) and hasattr(stream, "_original_stdstream_fd"):
                pipe = Pipe(stream)
                pipe.pending()
                pipes.append(pipe)
        except Exception:
            pass

    def drain():
        for pipe in pipes:
            pipe.drain()

    if pipes:
        shell.events.register("post_execute", drain)


def encode(text):
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


class Spool:
    """Keeps a cell's output on disk once it would exceed the server's rate
    limit, for the client to fetch after the cell."""

    WINDOW, BYTES, MESSAGES, PIECE, MAX = 3.5, 2 << 20, 1500, 256 << 10, 1 << 30

    def __init__(self):
        self.lock = threading.Lock()
        self.reset(None)

    def reset(self, parent):
        self.parent, self.sent, self.file, self.parts = parent, [], None, []
        self.size, self.dropped, self.reading = 0, 0, False

    def hook(self, stream):
        if hasattr(stream, "_flush_buffers"):
            self.hook_many(stream)
        elif hasattr(stream, "_flush_buffer"):
            self.hook_one(stream)

    def hook_many(self, stream):
        plain = stream._flush_buffers

        def _flush_buffers():
            for parent, data in plain():
                for piece in self.admit(stream, parent, data):
                    yield parent, piece

        stream._flush_buffers = _flush_buffers

    def hook_one(self, stream):
        """For ipykernel before 6.29, which sends what is there as one message."""
        plain = stream._flush_buffer

        def _flush_buffer():
            parent, data = stream.parent_header, plain()
            for piece in self.admit(stream, parent, data) if data else ():
                content = {"name": stream.name, "text": piece}
                stream.session.pid = os.getpid()
                stream.session.send(stream.pub_thread, "stream", content, parent=parent, ident=stream.topic)
            return ""

        stream._flush_buffer = _flush_buffer

    def admit(self, stream, parent, data):
        with self.lock:
            if parent.get("msg_id") != self.parent:
                self.reset(parent.get("msg_id"))
            for at in range(0, len(data), self.PIECE):
                piece = data[at : at + self.PIECE]
                raw = encode(piece)
                if self.file is None and self.fits(len(raw)):
                    yield piece
                else:
                    self.keep(stream, parent, raw)

    def fits(self, size):
        now = time.monotonic()
        self.sent = [s for s in self.sent if s[0] > now - self.WINDOW]
        if len(self.sent) >= self.MESSAGES or sum(s[1] for s in self.sent) + size > self.BYTES:
            return False
        self.sent.append((now, size))
        return True

    def keep(self, stream, parent, raw):
        if self.file is None:
            self.file = tempfile.TemporaryFile(prefix="toolcell-")
            content = {"data": {SPILL: ""}, "metadata": {}, "transient": {}}
            stream.session.send(stream.pub_thread, "display_data", content, parent=parent)
        if self.size + len(raw) > self.MAX:
            self.dropped += len(raw)
            return
        self.file.write(raw)
        self.size += len(raw)
        if self.parts and self.parts[-1][0] == stream.name:
            self.parts[-1][1] += len(raw)
        else:
            self.parts.append([stream.name, len(raw)])

    def take(self):
        """The next piece as STREAM:BASE64, "" at the end, "!" where there is
        an end that lacks something."""
        with self.lock:
            if self.file is None or not self.parts:
                lacks = "!" if self.dropped or self.file is None else ""
                self.reset(None)
                return lacks
            if not self.reading:
                self.file.flush()
                self.file.seek(0)
                self.reading = True
            name, size = self.parts[0]
            data = self.file.read(min(size, 3 << 19))
            self.parts[0][1] -= len(data)
            if self.parts[0][1] <= 0 or not data:
                self.parts.pop(0)
            return name + ":" + base64.b64encode(data).decode()


def at_exit(call):
    """Calls at the end of the process, also of one that then waits in vain for
    the program's threads."""
    atexit.register(call)
    try:
        threading._register_atexit(call)
    except Exception:
        pass


def tasks():
    try:
        return asyncio.all_tasks()
    except RuntimeError:
        return ()


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

    def parent(self):
        parent = shell.get_parent() if hasattr(shell, "get_parent") else shell.parent_header
        return parent["header"]["msg_id"]

    def begin(self, info):
        self.id = self.reply = None

    def end(self, result):
        self.id = self.parent()
        count = getattr(result, "execution_count", None) or shell.execution_count - 1
        error = result.error_before_exec or result.error_in_exec
        self.reply = {"status": "ok", "execution_count": count}
        if error is not None:
            try:
                text = str(error)
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

    def __init__(self, options):
        self.saved, self.private = [], None
        self.home = os.getcwd()
        self.spool = Spool()
        if options.get("spill"):
            for stream in (sys.stdout, sys.stderr):
                self.spool.hook(stream)
        self.last = Last()
        self.threads = set(threading.enumerate())
        self.tasks = set(tasks())

    def outcome(self, id):
        return self.last.tell(id)

    def decode(self, text):
        return base64.b64decode(text)

    def environment(self, env):
        names = {}
        for name, value in env.items():
            name, value = os.fsdecode(self.decode(name)), os.fsdecode(self.decode(value))
            names[name] = os.environ.get(name)
            os.environ[name] = value
        return names

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

    def start(self, args):
        self.directory(args)
        self.environment(args["env"])

    def clear(self):
        if self.private:
            shutil.rmtree(self.private, ignore_errors=True)

    def remove(self, name):
        shutil.rmtree(os.path.join(tempfile.gettempdir(), name), ignore_errors=True)

    def enter(self, args):
        self.leave()
        self.directory(args)
        self.saved.append((self.environment(args["env"]), self.input(args["stdin"])))

    def leave(self):
        while self.saved:
            names, restore = self.saved.pop()
            for name, value in names.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            if restore is not None:
                restore()

    def input(self, text):
        if text is None:
            return None
        kernel, stdin, fd = shell.kernel, sys.stdin, os.dup(0)
        with tempfile.TemporaryFile() as f:
            f.write(self.decode(text))
            f.flush()
            f.seek(0)
            os.dup2(f.fileno(), 0)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8", "surrogateescape")
        stream = sys.stdin

        def read(prompt=""):
            if prompt:
                sys.stdout.write(str(prompt))
                sys.stdout.flush()
            line = stream.readline()
            if not line:
                raise EOFError("EOF when reading a line")
            return line[:-1] if line.endswith("\n") else line

        kernel.raw_input = read

        def restore():
            try:
                del kernel.raw_input
            except AttributeError:
                pass
            sys.stdin = stdin
            os.dup2(fd, 0)
            os.close(fd)

        return restore

    def idle(self):
        """Whether nothing that the program started runs on."""
        for thread in threading.enumerate():
            if thread not in self.threads:
                return False
        for task in tasks():
            if task not in self.tasks and not of_kernel(task):
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
    hook_streams(shell)
    shell._toolcell = Helper(options)
