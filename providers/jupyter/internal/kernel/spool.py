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
    """Text and displays in the order in which they came, and how much was too much. What is
    of no run in progress is late, and has a share of its own, in pieces and in losses."""

    TAKE, EACH = 3 << 19, 1 << 6  # bytes of an answer, and what each piece in it takes beside its own

    def __init__(self, open, max, max_late):
        self.open, self.max, self.file, self.parts = open, {False: max, True: max_late}, None, collections.deque()
        self.size, self.lost, self.end, self.taken = {False: 0, True: 0}, {False: {}, True: {}}, 0, 0

    def __bool__(self):
        return bool(self.parts or self.lost[False] or self.lost[True])

    def add(self, name, raw, whole=False, late=False):
        """Adds text, which goes on where it is of the same name, or something whole."""
        last = self.parts[-1] if self.parts else None
        # Once something is lost all that follows is, which leaves a beginning without gaps.
        if self.lost[late] or not self.write(raw, late):
            self.lose(name, len(raw), late)
        elif last and last[:3] == [late, name, 0] and not whole:
            last[3] += len(raw)
        else:
            self.parts.append([late, name, len(raw) if whole else 0, len(raw)])

    def lose(self, name, size, late):
        self.lost[late][name] = self.lost[late].get(name, 0) + size

    def write(self, raw, late):
        """Reports false where there is no room, also on the disk."""
        if self.size[late] + len(raw) > self.max[late]:
            return False
        try:
            if self.file is None:
                self.file = self.open()
            self.file.seek(self.end)
            rest = memoryview(raw)
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError:
            return False
        self.size[late] += len(raw)
        self.end += len(raw)
        return True

    def read(self, size):
        self.file.seek(self.taken)
        data = self.file.read(size)
        if not data:
            raise EOFError("what was kept is gone")
        self.taken += len(data)
        return data

    def take(self):
        """The next pieces as NAME:BASE64, where NAME is a stream, or "TYPE SIZE" for each
        piece of something whole; behind them "lost NAME:BYTES". What is late has "late "
        before it. There are none at the end."""
        pieces, room = [], self.TAKE
        while self.parts and room > 0:
            late, name, whole, size = self.parts[0]
            data = self.read(min(size, room))
            self.parts[0][3] -= len(data)
            if self.parts[0][3] <= 0:
                self.parts.popleft()
            name = "%s %d" % (name, whole) if whole else name
            pieces.append("late " * late + name + ":" + base64.b64encode(data).decode())
            room -= len(data) + self.EACH
        for late in self.lost:
            while self.lost[late] and not self.parts:
                pieces.append("late " * late + "lost %s:%d" % self.lost[late].popitem())
        return pieces

    def move(self, other):
        """Adds what is late in another one, of which nothing more is taken."""
        for late, name, whole, size in other.parts:
            if late and size < whole:
                self.lose(name, size, True)  # the rest was taken
            elif late:
                self.add(name, other.read(size), whole > 0, True)
                continue
            other.taken += size
        for name, size in other.lost[True].items():
            self.lose(name, size, True)


class Spool:
    """Keeps what would exceed the server's rate limit, and all that follows, for the client
    to fetch: in a run, behind it, on disk, and between two, before the next one, in memory.
    Of what is of no run in progress, as what threads of an earlier one print, a beginning.
    That has a share of the limit to itself."""

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
        return Store(lambda: tempfile.TemporaryFile(prefix="toolcell-", buffering=0), self.MAX, self.MAX_LATE)

    def store_late(self):
        return Store(io.BytesIO, 0, self.MAX_LATE)

    def here(self):
        """Where what comes now is kept."""
        return self.own if self.depth else self.late

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
            self.held = None
            self.cleared()
            return False

    def cleared(self):
        """Drops what the run has kept, but for what is not its own."""
        was, self.own = self.own, self.store()
        self.own.move(was)

    def shows(self, message, call):
        """Sends the clear that waits for what is about to be shown, and keeps that where
        it is behind what is kept. Reports whether it did."""
        data = message["content"].get("data", ())
        if PLACE in data or SPILL in data:
            return False
        with self.lock:
            held = self.release() if message["parent_header"].get("msg_id") == self.run else None
            store = self.here()
            kept = bool(store)
        self.send_held(held)
        if kept:
            raw = self.shell.kernel.session.pack(message["content"])
            # In the thread that keeps text, in turn with that: no interrupt comes there.
            self.streams[0].pub_thread.schedule(lambda: self.keep(store, call, raw))
        return kept

    def keep(self, store, call, raw):
        stream, message, args, kwargs = call
        with self.lock:
            own = message["parent_header"].get("msg_id") == self.run
            if store is not self.own:
                if own and self.depth:
                    return  # it was cleared
                own, store = False, self.here()
            kept = bool(store)
            if kept:
                store.add(message["msg_type"], raw, True, not own)
        if not kept:  # it came too late to be fetched
            self.send(stream, message, *args, **kwargs)

    def release(self):
        held, self.held = self.held, None
        if held:
            self.cleared()
        return held

    def send_held(self, held):
        if held:
            stream, message, args, kwargs = held
            message["content"]["wait"] = False
            self.send(stream, message, *args, **kwargs)

    def begin(self, info):
        """Begins a run, unless it is a part of the present one. What nobody has fetched
        of the last one's goes, and what came since is its head."""
        header = asked(self.shell)
        with self.lock:
            if self.depth and header["msg_id"] == self.run:
                self.depth += 1
                return
            self.run, self.header, self.depth = header["msg_id"], header, 1
            self.own, self.held = self.store(), None
            for late in (self.given, self.late):
                if late:
                    self.own.move(late)
            self.given, self.late = None, self.store_late()
            kept = bool(self.own)
        if kept:
            self.mark(self.streams[0], header, "own")

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
                store, window = self.here(), self.window if own else self.late_window
                passes = not store and window.fits(len(encode(json.dumps(piece, ensure_ascii=False))))
                if not passes:
                    mark = None if store else "own" if self.depth else "late"
                    store.add(stream.name, encode(piece), late=not own)
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
        """The next pieces of what a run has kept, as Store.take has them, with ";" between
        them, or those of what came since, where run is "". "" is the end, "!" that of a run
        whose output is gone, since another program has begun."""
        with self.lock:
            if not run:
                return self.take_late()
            if run != self.run:
                return "!"
            self.depth = 0
            pieces = self.own.take()
            if not pieces:
                self.own = self.store()
            return ";".join(pieces)

    def take_late(self):
        if self.given is None:
            # What comes from here on is for later, so that there is an end.
            self.given, self.late = self.late, self.store_late()
        pieces = self.given.take()
        if not pieces:
            self.given = None
        return ";".join(pieces)
