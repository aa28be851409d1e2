# Commands of a shell, for their client. Each is the child of a guard, whose
# source is options["guard"]. Their output waits in pipes until it is asked for, so
# a reader that is slow slows its command down and nothing is dropped on the way.
#
# Requests come on the control channel, and can be made again where an answer was
# lost.

import base64, fcntl, json, os, shutil, signal, struct, subprocess, sys, tempfile, termios, threading, time

REQUEST, REPLY = "toolcell_command_request", "toolcell_command_reply"
PIECE, CHUNK, LINGER = 1 << 19, 1 << 16, 1.0
KEPT, SILENCE = 1 << 20, 2.0  # bytes of output for the next client; of one that may have gone


def unpack(text):
    return base64.b64decode(text or "")


def widen(fd):
    """Gives a pipe room for what one answer carries, where the system lets it."""
    try:
        fcntl.fcntl(fd, 1031, PIECE)  # F_SETPIPE_SZ
    except OSError:
        pass


def resize(terminal, content):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", content["rows"], content["columns"], 0, 0))


# What a kernel sets for those who show what its cells start on a screen, and what else is
# not so on a terminal.
COLORS = b"FORCE_COLOR", b"CLICOLOR", b"CLICOLOR_FORCE"
PAGERS = b"PAGER", b"GIT_PAGER", b"COLUMNS", b"LINES"


def environment(content):
    env = dict(os.environb)
    for name in COLORS + PAGERS if content["rows"] else COLORS:
        env.pop(name, None)
    if content["rows"]:
        env[b"TERM"] = b"xterm-256color"
    bin = os.fsencode(os.path.dirname(sys.executable))
    path = env.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    if bin and bin not in path:
        env[b"PATH"] = b":".join([bin] + path)
    for name, value in content["env"] or []:
        env[unpack(name)] = unpack(value)
    return env


class Command:
    def __init__(self, content):
        self.id, self.home = content["id"], None
        self.lease, self.asked, self.kept = content["lease"], time.monotonic(), []
        self.start, self.last = 0, []  # the offset of the last answer's output, and that
        self.size = self.fed = self.signals = 0
        self.end = self.over = None  # how it ended, and when that was known
        self.report = b""
        near, far = {}, []
        try:
            if content["private"]:
                self.home = tempfile.mkdtemp(prefix="toolcell-")
            near["status"], status = os.pipe()
            far.append(status)
            orders, near["orders"] = os.pipe()
            far.append(orders)
            streams = (self.terminal if content["rows"] else self.plain)(content, near, far)
            with tempfile.TemporaryFile(buffering=0) as script:
                script.write(unpack(content["code"]))
                script.seek(0)
                fds = orders, status, script.fileno()
                self.guard = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", options["guard"], *map(str, fds), *self.shell(content)],
                    stdin=streams[0], stdout=streams[1], stderr=streams[2], pass_fds=fds, cwd=self.home,
                    env=environment(content), start_new_session=True)
        except BaseException:
            for fd in near.values():
                os.close(fd)
            self.tidy()
            raise
        finally:
            # While they are open here as well, no pipe ends with the command.
            for fd in far:
                os.close(fd)
        for fd in near.values():
            os.set_blocking(fd, False)
        self.orders, self.status, self.stdin = near["orders"], near["status"], near.get("stdin")
        self.pipes = {name: near[name] for name in ("stdout", "stderr") if name in near}

    def plain(self, content, near, far):
        """Makes pipes for the standard streams, and returns the command's ends."""
        if content["input"]:
            stdin, near["stdin"] = os.pipe()
        else:
            stdin = os.open(os.devnull, os.O_RDONLY)
        far.append(stdin)
        for name in ("stdout", "stderr"):
            near[name], write = os.pipe()
            far.append(write)
            widen(write)
        return far[-3:]

    def terminal(self, content, near, far):
        """Makes a terminal for them, which has one output and an input that has no end."""
        near["stdout"], end = os.openpty()
        far.append(end)
        near["stdin"] = os.dup(near["stdout"])
        resize(end, content)
        return [end] * 3

    def shell(self, content):
        found = [path for path in options["shells"] if os.access(path, os.X_OK)] or [shutil.which("sh") or "/bin/sh"]
        name = os.path.basename(found[0])
        return [found[0], name, "-c", options["boot"], name, os.fsdecode(unpack(content["cwd"]))]

    # Output.

    def read(self, at):
        # What is read from the pipes is kept until the next piece is asked for: its answer
        # may have been lost. Nothing before it is.
        if at != self.start + self.size and at != self.start:
            raise ValueError(at)
        if at != self.start or not self.last:
            self.keep()
            self.start, self.last = at, self.gather()
            self.size = sum(len(data) for _, data in self.last)
        self.look()
        answer = {"pieces": [[name, base64.b64encode(data).decode()] for name, data in self.last], "over": self.end is not None}
        if not self.last and self.end is not None and not self.pipes:
            answer["end"] = self.end
        return answer

    def keep(self):
        """Keeps output that was read for the next client."""
        self.kept += self.last if self.lease else []
        size = sum(len(data) + 64 for _, data in self.kept)
        while size > KEPT:
            size -= len(self.kept.pop(0)[1]) + 64

    def attach(self):
        """Has the next client read what is kept first."""
        self.start -= sum(len(data) for _, data in self.kept)
        self.last, self.kept = self.kept + self.last, []
        self.size = sum(len(data) for _, data in self.last)
        return {"start": self.start, "fed": self.fed, "signals": self.signals}

    def gather(self):
        pieces, room, more = [], PIECE, True
        while more and room > 0:
            more = False
            for name, fd in list(self.pipes.items()):
                try:
                    data = os.read(fd, min(CHUNK, room)) if room else None
                except BlockingIOError:
                    data = None
                except OSError:  # a terminal that no process has any more
                    data = b""
                if data:
                    more, room = True, room - len(data)
                    if pieces and pieces[-1][0] == name:
                        pieces[-1][1] += data
                    else:
                        pieces.append([name, data])
                elif data == b"":
                    self.shut(name)
        # A process that still holds them has left the command.
        if not pieces and self.over and time.monotonic() > self.over + LINGER:
            self.end["left"] = self.end.get("left") or bool(self.pipes)
            for name in list(self.pipes):
                self.shut(name)
        return pieces

    def shut(self, name):
        os.close(self.pipes.pop(name))

    def look(self):
        """Learns of the end."""
        while self.end is None:
            try:
                data = os.read(self.status, CHUNK)
            except BlockingIOError:
                return
            if data:
                self.report = (self.report + data)[:CHUNK]
                continue
            try:
                self.end = json.loads(self.report.decode())
            except ValueError:
                self.end = {"lost": True}
            self.over = time.monotonic()

    # Input and orders.

    def feed(self, at, data, last):
        # What a request brought whose answer was lost is not given twice.
        data = memoryview(data)[max(self.fed - at, 0) :]
        while data and self.stdin is not None:
            try:
                took = os.write(self.stdin, data[:CHUNK])
            except BlockingIOError:
                break
            except OSError:
                self.close_input()
                break
            data, self.fed = data[took:], self.fed + took
        if last and not data:
            self.close_input()
        return {"fed": self.fed, "shut": self.stdin is None}

    def close_input(self):
        if self.stdin is not None:
            os.close(self.stdin)
            self.stdin = None

    def send(self, number, name):
        # Nor is a signal sent twice.
        if number > self.signals and self.orders is not None:
            self.signals = number
            try:
                os.write(self.orders, bytes([getattr(signal, "SIG" + name)]))
            except OSError:
                pass  # it has ended
        return {}

    def resize(self, content):
        if "stdout" in self.pipes:
            resize(self.pipes["stdout"], content)
        return {}

    def stop(self):
        """Makes the guard end the command."""
        orders, self.orders = self.orders, None  # by one thread of two
        if orders is not None:
            os.close(orders)
        return {}

    def tidy(self):
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)

    def forget(self):
        self.stop()
        self.close_input()
        try:
            self.guard.wait(10)
        except subprocess.TimeoutExpired:
            pass
        for name in list(self.pipes):
            self.shut(name)
        os.close(self.status)
        self.tidy()


class Commands:
    def __init__(self, kernel):
        self.commands, self.session, self.last_request = {}, kernel.session, time.monotonic()
        self.client = None
        kernel.control_handlers[REQUEST] = self.serve
        threading.Thread(target=self.watch, daemon=True).start()

    def serve(self, stream, ident, message):
        try:
            content = self.answer(message["content"]) if self.admit(message["content"]) else {"fault": "busy"}
        except OSError as error:
            content = {"fault": os.strerror(error.errno or 0)}
        except Exception as error:
            content = {"fault": type(error).__name__}
        self.session.send(stream, REPLY, content, parent=message, ident=ident)

    def admit(self, content):
        """Reports whether a client may ask. One that takes the place of another ends what that
        has not left."""
        now, op, other = time.monotonic(), content["op"], self.client not in (None, content["client"])
        if op == "attach":
            if other and now < self.last_request + SILENCE:
                return False
            if self.client != content["client"]:
                for command in list(self.commands.values()):
                    if not command.lease:
                        command.stop()
        self.last_request, self.client = now, None if op == "leave" else content["client"]
        return True

    def answer(self, content):
        op, command = content["op"], self.commands.get(content["id"])
        if command:
            command.asked = time.monotonic()
        if op == "start":
            if command is None:
                self.commands[content["id"]] = Command(content)
            return {}
        if op == "forget":
            if self.commands.pop(content["id"], None):
                command.forget()
            return {}
        if command is None:
            return {"fault": "unknown"}
        if op == "read":
            return command.read(content["at"])
        if op == "input":
            return command.feed(content["at"], unpack(content["data"]), content["last"])
        if op == "signal":
            return command.send(content["at"], content["signal"])
        if op == "resize":
            return command.resize(content)
        if op == "attach":
            return command.attach()
        if op == "leave":
            return {}
        return command.stop()

    def watch(self):
        """Ends commands whose client is gone."""
        while True:
            time.sleep(min(options["lease"] / 4, 1))
            for command in list(self.commands.values()):
                end = command.asked + command.lease if command.lease else self.last_request + options["lease"]
                if time.monotonic() > end:
                    command.stop()
                    if command.lease and self.commands.pop(command.id, None):
                        command.forget()


__import__("IPython").get_ipython()._toolcell_commands = Commands(__import__("IPython").get_ipython().kernel)
