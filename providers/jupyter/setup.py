import base64, builtins, io, json, math, os, sys, tempfile, threading

VALUE = "application/vnd.toolcell.value"
MAX_VALUE = 1 << 20

shell = __import__("IPython").get_ipython()


def faithful(value, depth=0):
    """Whether JSON can carry the value without changing it."""
    kind = type(value)
    if value is None or kind in (bool, int):
        return True
    if kind is float:
        return math.isfinite(value)
    if kind is str:
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
        return True
    if depth > 200 or kind not in (list, dict):
        return False
    if kind is dict:
        return all(type(k) is str and faithful(k) and faithful(v, depth + 1) for k, v in value.items())
    return all(faithful(v, depth + 1) for v in value)


def value_json(value, dumps=json.dumps):
    try:
        if faithful(value):
            text = dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            return text if len(text) <= MAX_VALUE else None
    except Exception:
        pass
    return None


def hook_values(hook):
    """Adds the JSON form to what is sent for the value of a cell."""
    plain = hook.compute_format_data

    def compute_format_data(result):
        data, metadata = plain(result)
        text = value_json(result)
        if text is not None:
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


class Helper:
    """What the client calls through hidden requests."""

    def __init__(self):
        self.saved = []
        self.threads = set(threading.enumerate())
        self.spool = None

    def decode(self, text):
        return base64.b64decode(text)

    def environment(self, env):
        names = {}
        for name, value in env.items():
            name, value = os.fsdecode(self.decode(name)), os.fsdecode(self.decode(value))
            names[name] = os.environ.get(name)
            os.environ[name] = value
        return names

    def start(self, args):
        if args["cwd"]:
            os.chdir(os.fsdecode(self.decode(args["cwd"])))
        self.environment(args["env"])

    def enter(self, args):
        if args["cwd"]:
            os.chdir(os.fsdecode(self.decode(args["cwd"])))
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
        try:
            with open("/proc/self/task/%d/children" % os.getpid()) as f:
                return not f.read().strip()
        except OSError:
            return False


if not hasattr(shell, "_toolcell"):
    hook_values(shell.displayhook)
    hook_exit(shell)
shell._toolcell = Helper()
