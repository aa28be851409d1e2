# Standard output and error. This is run before setup.py, in one source with it.

import asyncio, codecs, io, json, os, sys, threading, time, _thread


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


own = set()  # threads that are not the program's and that threading did not start


class Pipe:
    """Reads what child processes and C code write to a file descriptor. The
    kernel's own reader breaks characters that lie across its reads, and what
    it has not read when a cell ends comes after the end."""

    def __init__(self, stream):
        self.stream, self.busy, self.decode, self.pid = stream, False, decoder(), os.getpid()
        self.plain = type(stream).write  # also once the program has closed it
        self.fd, end = os.pipe()
        number = stream._original_stdstream_fd
        os.dup2(end, number)
        os.close(end)
        # Else the server's own: what is written there reaches no client.
        stream.fileno = lambda: number
        _thread.start_new_thread(self.read, ())

    def read(self):
        import select

        own.add(threading.current_thread())
        arrival = select.poll()
        arrival.register(self.fd, select.POLLIN)
        while True:
            self.busy = False
            arrival.poll()  # what there is stays in the pipe until this is busy
            self.busy = True
            data = os.read(self.fd, 1 << 16)
            if not data:
                return
            Said.anything = True
            try:
                self.plain(self.stream, self.decode(data))
            except Exception:
                return

    def pending(self):
        import fcntl, struct, termios

        size = struct.unpack("i", fcntl.ioctl(self.fd, termios.FIONREAD, b"\0" * 4))[0]
        return size > 0 or self.busy

    def drain(self, limit):
        if os.getpid() != self.pid:
            return  # a child has nobody who reads
        end = time.monotonic() + limit
        while self.pending() and time.monotonic() < end:
            time.sleep(0.0005)


def as_files(stream):
    """Gives one of the kernel's streams what a file has. Its own close() waits for
    the thread whose place a Pipe took, and has child processes write to the server."""
    plain = type(stream)

    class Stream(plain):
        shut = False

        def close(self):
            if not self.shut and not sys.is_finalizing():
                self.flush()
            self.shut = True

        @property
        def closed(self):
            return self.shut or plain.closed.fget(self)

        def write(self, text):
            if self.shut:
                raise ValueError("I/O operation on closed file.")
            return plain.write(self, text)

        def writelines(self, lines):
            for line in lines:
                self.write(line)

        def reconfigure(self, *, encoding=None, errors=None, newline=None, line_buffering=None, write_through=None):
            self.flush()  # and no more: what is printed goes to the client as text

    Stream.__name__, Stream.__qualname__, Stream.__module__ = plain.__name__, plain.__qualname__, plain.__module__
    stream.__class__ = Stream


class Instead(io.TextIOBase):
    """In the place of what a program made its standard output, and that IPython or the
    kernel cannot handle, so that nobody would be told how the program ended."""

    encoding = "utf-8"

    def __init__(self, of):
        self.of = of

    def writable(self):
        return True

    def write(self, text):
        return len(text) if self.of is None else self.of.write(text)

    def flush(self):
        pass


def steady(own):
    """Puts a stream that can be flushed in the place of one that cannot, such as None
    and files that were closed; own are the kernel's."""
    for name, kernels in own.items():
        stream = getattr(sys, name, None)
        if stream is kernels or type(stream) is Instead:
            continue
        try:
            stream.flush()
            stream.write = stream.write  # as IPython does
        except Exception:
            setattr(sys, name, Instead(stream))


def hook_steady(shell):
    """Looks before IPython or the kernel flushes: around cells, which hidden requests
    are too, and before values and errors are shown."""
    own = {"stdout": sys.stdout, "stderr": sys.stderr}

    def before(plain):
        def steadied(*args, **kwargs):
            steady(own)
            return plain(*args, **kwargs)

        return steadied

    shell.run_cell, shell._showtraceback = before(shell.run_cell), before(shell._showtraceback)
    shell.displayhook.finish_displayhook = before(shell.displayhook.finish_displayhook)
    shell.events.register("post_execute", lambda: steady(own))


class Said:
    """Whether something was printed or shown since the last mark, see Pump.mark."""

    anything = False


def check_texts():
    """Checks what is written, once the present cell is over: IPython puts back
    then what writes were before it."""

    def check():
        for stream in (sys.stdout, sys.stderr):
            try:
                check_text(stream)
            except AttributeError:
                pass

    try:
        asyncio.get_running_loop().call_soon(check)
    except RuntimeError:
        check()


def check_text(stream):
    """Lets a write of what UTF-8 cannot carry fail, as that to a file does: the
    kernel would lose the whole message."""
    stream.__dict__.pop("write", None)  # what IPython puts back is of before as_files
    plain, strict = stream.write, stream is not sys.stderr

    def write(text):
        Said.anything = True
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                if strict:
                    raise
                text = text.encode("utf-8", "backslashreplace").decode()
        return plain(text)

    stream.write = write


def check_messages(session):
    """Lets messages through that hold what UTF-8 cannot carry, such as the text
    of an error, with the rest whole."""
    plain = session.pack

    def pack(content):
        try:
            return plain(content)
        except UnicodeEncodeError:
            return json.dumps(content, default=str).encode()

    session.pack = pack


def c_flusher():
    """What flushes the buffers that C code keeps of its own for what it prints."""
    try:
        import _ctypes

        fflush = _ctypes.dlsym(_ctypes.dlopen(None, 0), "fflush")
        return lambda: _ctypes.call_function(fflush, (None,))
    except Exception:
        return lambda: None


def hook_parents(shell):
    """Has what comes by the descriptors of the kernel's streams belong to the present
    cell where the program has other streams in their place, of which alone IPython
    thinks."""
    plain, streams = shell.set_parent, [s for s in (sys.stdout, sys.stderr) if hasattr(s, "set_parent")]

    def set_parent(parent):
        plain(parent)
        for stream in streams:
            if stream is not sys.stdout and stream is not sys.stderr:
                stream.set_parent(parent)

    shell.set_parent = set_parent


def by_lines():
    """Has python's first streams, to which programs return, write each line at once."""
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            stream.reconfigure(line_buffering=True)
        except Exception:
            pass


def flush_first():
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:
            pass


def hook_streams(shell):
    check_texts()
    hook_parents(shell)
    by_lines()
    pipes, flush_c = [], c_flusher()
    for stream in (sys.stdout, sys.stderr):
        try:
            if not hasattr(stream, "buffer"):
                stream.buffer = Buffer(stream)
            if getattr(stream, "_should_watch", False) and hasattr(stream, "_original_stdstream_fd"):
                pipe = Pipe(stream)
                pipe.pending()
                pipes.append(pipe)
            as_files(stream)
        except Exception:
            pass

    def drain(limit=0.5):
        flush_first()
        flush_c()
        for pipe in pipes:
            pipe.drain(limit)
            if pipe.stream is not sys.stdout and pipe.stream is not sys.stderr:
                pipe.stream.flush()  # of those that a program replaced the kernel does not think

    if pipes:
        shell.events.register("post_execute", drain)
    return drain


def hold_messages(kernel):
    """Has the kernel hold what its server has not read yet: it would drop, and tell
    nobody of, what exceeds a thousand messages."""
    thread = getattr(getattr(kernel, "iopub_socket", None), "io_thread", None)

    def hold():
        import zmq

        try:
            thread.socket.setsockopt(zmq.SNDHWM, 0)
        except Exception:
            pass

    if hasattr(thread, "schedule"):
        thread.schedule(hold)  # sockets are for one thread
