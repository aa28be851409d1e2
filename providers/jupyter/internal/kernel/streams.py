# Standard output and error. ipykernel's streams are kept; what is added is what would
# otherwise be lost or come after the end of a cell.

import codecs, io, json, os, select, sys, threading, time, _thread


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


own = set()  # our threads


class Pipe:
    """Reads what child processes and C code write to a file descriptor. The
    kernel's own reader breaks characters that lie across its reads, and what
    it has not read when a cell ends comes after the end."""

    def __init__(self, stream):
        self.stream, self.busy, self.decode, self.pid = stream, False, decoder(), os.getpid()
        self.fd, end = os.pipe()
        self.arrival = select.poll()
        self.arrival.register(self.fd, select.POLLIN)
        number = stream._original_stdstream_fd
        os.dup2(end, number)
        os.close(end)
        stream.fileno = lambda: number  # the stream's own is that of the server
        _thread.start_new_thread(self.read, ())

    def read(self):
        own.add(threading.current_thread())
        while True:
            self.busy = False
            select.select([self.fd], [], [])  # the data stays in the pipe until this is busy
            self.busy = True
            data = os.read(self.fd, 1 << 16)
            if not data:
                return
            try:
                self.stream.write(self.decode(data))
            except Exception:
                return

    def drain(self, limit):
        end = time.monotonic() + limit
        while os.getpid() == self.pid and (self.arrival.poll(0) or self.busy) and time.monotonic() < end:
            time.sleep(0.0005)


class Pieces:
    """The text that a stream has not sent, in the order in which it was written.
    ipykernel's own dict has one buffer for each run, which loses that order."""

    def __init__(self):
        self.pieces = []

    def __getitem__(self, run):
        if not self.pieces or self.pieces[-1][0] != run:
            self.pieces.append((run, io.StringIO()))
        return self.pieces[-1][1]

    def items(self):
        return self.pieces


def keep_order(stream):
    """Makes a stream send what several runs write to it in the order of writing."""

    def rotate():
        with stream._buffer_lock:
            pieces, stream._buffers = stream._buffers, Pieces()
        return pieces

    if hasattr(stream, "_rotate_buffers"):  # others have one buffer for all runs
        stream._rotate_buffers = rotate


def put_back(streams):
    """Puts streams back where a program has set sys.stdout or sys.stderr to None or has
    closed them: without them the kernel does not answer."""
    for name, stream in streams.items():
        present = getattr(sys, name, None)
        if present is None or getattr(present, "closed", False) is True:
            setattr(sys, name, stream)


def check_messages(session):
    """Sends messages that hold lone surrogates, such as the text of an error, with the
    rest whole."""
    plain = session.pack

    def pack(content):
        try:
            return plain(content)
        except UnicodeEncodeError:
            return json.dumps(content, default=str).encode()

    session.pack = pack


def hook_streams(shell):
    """Returns what waits until all output has been handed to the kernel."""
    import ctypes

    pipes, flush_c = [], ctypes.CDLL(None if os.name == "posix" else "msvcrt").fflush
    streams = {"stdout": sys.stdout, "stderr": sys.stderr}
    for stream in (sys.stdout, sys.stderr):
        try:
            keep_order(stream)
            stream.close = stream.flush  # ipykernel's own would wait for the end of the pipe for ever
            if not hasattr(stream, "buffer"):
                stream.buffer = Buffer(stream)
            if not hasattr(stream, "reconfigure"):
                stream.reconfigure = lambda **kwargs: None
            if getattr(stream, "_should_watch", False) and hasattr(stream, "_original_stdstream_fd"):
                pipes.append(Pipe(stream))
        except Exception:
            pass

    def drain(limit=0.5):
        put_back(streams)
        for stream in (sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except Exception:
                pass
        flush_c(None)
        for pipe in pipes:
            pipe.drain(limit)
            if pipe.stream is not sys.stdout and pipe.stream is not sys.stderr:
                pipe.stream.flush()  # the kernel flushes the others

    shell.events.register("post_execute", drain)
    return drain


def hold_messages(kernel):
    """Removes the limit of a thousand messages, above which the kernel drops output
    without a word."""
    import zmq

    thread = getattr(getattr(kernel, "iopub_socket", None), "io_thread", None)
    if hasattr(thread, "schedule"):
        thread.schedule(lambda: thread.socket.setsockopt(zmq.SNDHWM, 0))  # sockets are for one thread
