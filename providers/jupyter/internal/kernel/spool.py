# Output beyond the server's rate limit, which is kept here for the client to fetch.
# This follows streams.py, and is run before setup.py, in one source.

import base64, collections, io, json, os, tempfile, threading, time

SPILL = "application/vnd.toolcell.spill"
SHOWN = ("display_data", "update_display_data", "execute_result", "clear_output")


def asked(shell):
    """The header of the request that the present cell answers."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else shell.parent_header
    return parent["header"]


def encode(text):
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


class Window:
    """What may be sent within a time. A busy server reads slowly, and a kernel drops
    what exceeds 1,000 messages."""

    SECONDS, EACH = 3.5, 1 << 10  # bytes of a message beside its text

    def __init__(self, size, messages):
        self.size, self.messages, self.sent = size, messages, []

    def fits(self, size):
        now, size = time.monotonic(), size + self.EACH
        self.sent = [s for s in self.sent if s[0] > now - self.SECONDS]
        if len(self.sent) >= self.messages or sum(s[1] for s in self.sent) + size > self.size:
            return False
        self.sent.append((now, size))
        return True


class Store:
    """Text and displays in the order in which they came, and how much was too much."""

    TAKE, EACH = 3 << 19, 1 << 6  # bytes of an answer, and what each piece in it takes beside its own

    def __init__(self, open, max):
        self.open, self.max, self.file, self.parts, self.lost = open, max, None, collections.deque(), {}
        self.size = self.taken = 0

    def __bool__(self):
        return bool(self.parts or self.lost)

    def add(self, name, raw, whole=False):
        """Adds text, which goes on where it is of the same name, or something whole."""
        # Once something is lost all that follows is, which leaves a beginning without gaps.
        if self.lost or not self.write(raw):
            self.lost[name] = self.lost.get(name, 0) + len(raw)
        elif self.parts and self.parts[-1][0] == name:
            self.parts[-1][1] += len(raw)
        else:
            self.parts.append(["%s %d" % (name, len(raw)) if whole else name, len(raw)])

    def write(self, raw):
        """Reports false where there is no room, also on the disk."""
        if self.size + len(raw) > self.max:
            return False
        try:
            if self.file is None:
                self.file = self.open()
            self.file.seek(self.size)
            rest = memoryview(raw)
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError:
            return False
        self.size += len(raw)
        return True

    def take(self):
        """The next pieces as NAME:BASE64, where NAME is a stream, or "TYPE SIZE" for each
        piece of something whole; behind them "lost NAME:BYTES". There are none at the end."""
        pieces, room = [], self.TAKE
        while self.parts and room > 0:
            name, size = self.parts[0]
            self.file.seek(self.taken)
            data = self.file.read(min(size, room))
            if not data:
                raise EOFError("what was kept is gone")
            self.taken += len(data)
            self.parts[0][1] -= len(data)
            if self.parts[0][1] <= 0:
                self.parts.popleft()
            pieces.append(name + ":" + base64.b64encode(data).decode())
            room -= len(data) + self.EACH
        while self.lost and not self.parts:
            pieces.append("lost %s:%d" % self.lost.popitem())
        return pieces


class Spool:
    """Keeps what would exceed the server's rate limit, and what a run shows behind that,
    for the client to fetch after the run: the run's own on disk, and of what is not the
    run's, as what threads of an earlier one print, a beginning in memory. Each has a
    share of the limit to itself."""

    PIECE, MAX, MAX_LATE = 256 << 10, 1 << 30, 1 << 20

    def __init__(self, shell):
        self.shell, self.streams, self.child = shell, (), False
        self.window, self.late_window = Window(2 << 20, 800), Window(512 << 10, 150)
        self.clear()

    def clear(self):
        self.lock = threading.RLock()  # a handler of a signal can show something too
        self.run, self.header, self.depth = None, None, 0  # 0: the run is over
        self.own, self.late, self.given = self.store(), self.store_late(), None
        self.held = None  # a clear that waits for more output, as it was to be sent

    def store(self):
        # Without a buffer, which a child would write too.
        return Store(lambda: tempfile.TemporaryFile(prefix="toolcell-", buffering=0), self.MAX)

    def store_late(self):
        return Store(io.BytesIO, self.MAX_LATE)

    def forked(self):
        """Leaves what there is to the parent, whom alone the client asks for it."""
        self.clear()
        self.child = True

    def hook(self, *streams):
        self.streams = streams
        for stream in streams:
            if hasattr(stream, "_flush_buffers"):
                self.hook_many(stream)
            elif hasattr(stream, "_flush_buffer"):
                self.hook_one(stream)
        self.hook_shown(self.shell.kernel.session)
        self.shell.events.register("pre_run_cell", self.begin)
        self.shell.events.register("post_run_cell", self.end)

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

    def hook_shown(self, session):
        """Has what the program shows behind what is kept kept too, and what it clears
        cleared of that, which comes to the client after the clear."""
        plain = self.send = session.send

        def send(stream, message, *args, **kwargs):
            if isinstance(message, dict) and message.get("msg_type") in SHOWN and not self.child:
                takes = self.clears if message["msg_type"] == "clear_output" else self.shows
                if takes(message, (stream, message, args, kwargs)):
                    return message
            return plain(stream, message, *args, **kwargs)

        session.send = send

    def clears(self, message, call):
        """Takes note of a clear. Reports whether it is not to be sent before there is
        more output."""
        with self.lock:
            if not self.own or message["parent_header"].get("msg_id") != self.run:
                return False
            if message["content"].get("wait"):
                self.held = call
                return True
            self.own, self.held = self.store(), None
            return False

    def shows(self, message, call):
        """Sends the clear that waits for what is about to be shown, and keeps that where
        it is behind what is kept. Reports whether it did."""
        data = message["content"].get("data", ())
        if PLACE in data or SPILL in data:
            return False
        with self.lock:
            if message["parent_header"].get("msg_id") != self.run:
                return False
            held, store = self.release(), self.own
            kept = bool(store) and self.depth > 0
        self.send_held(held)
        if kept:
            raw = self.shell.kernel.session.pack(message["content"])
            # In the thread that keeps text, in turn with that: no interrupt comes there.
            self.streams[0].pub_thread.schedule(lambda: self.keep(store, call, raw))
        return kept

    def keep(self, store, call, raw):
        stream, message, args, kwargs = call
        with self.lock:
            kept = store is self.own
            if kept:
                store.add(message["msg_type"], raw, whole=True)
            over = self.depth == 0 or message["parent_header"].get("msg_id") != self.run
        if over and not kept:  # it came too late to be fetched; else it was cleared
            self.send(stream, message, *args, **kwargs)

    def release(self):
        held, self.held = self.held, None
        if held:
            self.own = self.store()
        return held

    def send_held(self, held):
        if held:
            stream, message, args, kwargs = held
            message["content"]["wait"] = False
            self.send(stream, message, *args, **kwargs)

    def begin(self, info):
        """Begins a run, unless it is a part of the present one. What nobody has fetched
        of the last one's goes."""
        header = asked(self.shell)
        with self.lock:
            if self.depth and header["msg_id"] == self.run:
                self.depth += 1
                return
            self.run, self.header, self.depth = header["msg_id"], header, 1
            self.own, self.held = self.store(), None
            late = bool(self.late or self.given)
        if late:
            self.mark(self.streams[0], header, "late")

    def end(self, result):
        """Ends the run: what its threads print from here on is not the run's."""
        if self.depth == 1 and not self.child:
            for stream in self.streams:
                type(stream).flush(stream)  # one that is interrupted leaves the end to take or begin
        with self.lock:
            self.depth = max(0, self.depth - 1)

    def admit(self, stream, parent, data):
        """Gives what may be sent, and keeps the rest."""
        if self.child:
            yield data
            return
        for at in range(0, len(data), self.PIECE):
            piece, mark = data[at : at + self.PIECE], None
            with self.lock:
                own = self.depth > 0 and parent.get("msg_id") == self.run
                held = self.release() if own else None
                kept, window = (self.own, self.window) if own else (self.late, self.late_window)
                passes = not kept and window.fits(len(encode(json.dumps(piece, ensure_ascii=False))))
                if not passes:
                    mark = None if kept else "own" if own else "late"
                    kept.add(stream.name, encode(piece))
                about = self.header if self.depth else parent
            self.send_held(held)
            if passes:
                yield piece
            elif mark:
                self.mark(stream, about, mark)

    def mark(self, stream, parent, whose):
        """Tells the client that there is something to fetch."""
        content = {"data": {SPILL: whose}, "metadata": {}, "transient": {}}
        self.send(stream.pub_thread, "display_data", content, parent=parent)

    def spares(self, run):
        """Whether a mark of a call goes within the limit too. One behind output that is
        kept says nothing: that comes after the cell."""
        if not self.streams:
            return True
        with self.lock:
            return not (self.own and self.run == run) and self.window.fits(0)

    def take(self, run):
        """The next pieces of a run's own output as Store.take has them, with ";" between
        them, then with "late " before each those of what is not the run's. "" is the end,
        "!" that of a run whose output is gone, since another program has begun."""
        with self.lock:
            self.depth = 0
            pieces = self.own.take() if run == self.run else []
            if pieces:
                return ";".join(pieces)
            if self.given is None:
                # What comes from here on is for the next run, so that there is an end.
                self.given, self.late = self.late, self.store_late()
            pieces = self.given.take()
            if not pieces:
                self.own, self.given = self.store(), None
                return "" if run == self.run else "!"
            return ";".join("late " + piece for piece in pieces)
