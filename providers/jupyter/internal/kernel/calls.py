# Calls of the host's functions, through the stdin channel.
#
# All calls of a program go through one pump, a thread that sends them in prompts and
# distributes the answers. If the connection was lost, the client says so, and all open
# calls fail.

import asyncio, collections, contextlib, contextvars, json, linecache, os, socket, sys, threading, time
from _thread import start_new_thread

MAX_CALLS = 4096  # that are open
MAX_ARGS = 0  # bytes of one call, as offered
BATCH = 1 << 20  # bytes of calls in one prompt, unless one call is larger

run_of = contextvars.ContextVar("run_of", default=None)  # the run that a thread or task belongs to


def line_of(name, number):
    """Returns a line of a program's, or nothing."""
    return linecache.getline(name, number)


class Waiter:
    """A thread that waits for the answer to its call."""

    def __init__(self):
        self.lock = threading.Lock()
        self.lock.acquire()

    def give(self, answer):
        self.answer = answer
        self.lock.release()


class Pending:
    """A call that an asyncio loop waits for."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.future = self.loop.create_future()

    def give(self, answer):
        try:
            self.loop.call_soon_threadsafe(self.settle, answer)
        except RuntimeError:
            pass  # it is closed

    def settle(self, answer):
        if not self.future.done():
            self.future.set_result(answer)


class Pump:
    """Carries all calls of a program."""

    def __init__(self, shell):
        self.kernel, self.nonce, self.client = shell.kernel, None, None
        self.started, self.sequence, self.pid = False, 0, None
        self.idle = threading.Event()  # the pump keeps off the channel
        self.idle.set()
        self.lock = threading.Lock()  # guards what reset sets
        self.reset()
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forked)

    def reset(self):
        self.run, self.depth, self.count, self.epoch = None, 0, 0, 0
        self.calls, self.parts = {}, {}  # by id: who waits, and the text so far
        self.queue = collections.deque()  # (id, name, JSON)

    def forked(self):
        self.lock, self.pid, self.started = threading.Lock(), None, False
        self.reset()

    def offer(self, args):
        """Sets the functions of a client's programs."""
        global MAX_ARGS
        self.nonce, self.client, MAX_ARGS = args["nonce"], args["client"], args["args"]
        offer(args["names"])
        if args["names"] and not self.started:
            self.pid, self.started = os.getpid(), True
            self.bell, self.rope = socket.socketpair()
            self.bell.setblocking(False)
            self.rope.setblocking(False)
            start_new_thread(self.work, ())

    def begin(self, info):
        """Begins the calls of a program, unless the cell is a nested one."""
        ident, parent = self.asker()
        run = parent.get("msg_id", "") if parent else ""
        if not (self.started and self.client and run.startswith(self.client)):
            return
        with self.lock:
            if run == self.run:
                self.depth += 1
                return
        self.stop()
        with self.lock:
            self.reset()
            self.run, self.depth, self.ident, self.parent = run, 1, ident, parent
            run_of.set(run)
        renew()

    def asker(self):
        """Whom a question of the present cell goes to, and its parent."""
        if not getattr(self.kernel, "_allow_stdin", False):
            return None, None
        return self.kernel._parent_ident["shell"], self.kernel.get_parent("shell")["header"]

    def end(self, result):
        with self.lock:
            self.depth -= 1
            if self.depth > 0 or self.run is None:
                return
        self.stop()

    def stop(self):
        """Ends all calls, and waits until the pump is idle."""
        with self.lock:
            self.run = None
        self.fail("the run has ended")
        if self.started:
            self.ring()
            self.idle.wait(5)

    def fail(self, message):
        """Fails all open calls."""
        with self.lock:
            waiting = list(self.calls.values())
            for of in (self.calls, self.parts, self.queue):
                of.clear()
        for waiter in waiting:
            waiter.give((False, message))

    def ring(self):
        try:
            self.rope.send(b".")
        except OSError:
            pass  # it is full

    def enter(self, name, data, waiter):
        """Queues a call."""
        __tracebackhide__ = True
        if os.getpid() != self.pid:
            raise ToolError(name, "functions cannot be called from a forked process: call them from threads, or before the fork")
        with self.lock:
            if self.run is None or self.is_left():
                raise ToolError(name, "the run has ended")
            if len(self.calls) >= MAX_CALLS:
                raise ToolError(name, "more than %d calls at once" % MAX_CALLS)
            self.count += 1
            waiter.id = self.count
            self.calls[waiter.id] = waiter
            self.queue.append((waiter.id, name, data.decode()))
        self.ring()

    def is_left(self):
        """Whether what runs here was left behind by an earlier run."""
        return run_of.get() not in (None, self.run)

    def leave(self, waiter):
        with self.lock:
            self.calls.pop(getattr(waiter, "id", None), None)
            self.parts.pop(getattr(waiter, "id", None), None)

    def work(self):
        """The pump."""
        import zmq

        own.add(threading.current_thread())
        channel, poller, bell = self.kernel.stdin_socket, zmq.Poller(), self.bell.fileno()
        poller.register(bell, zmq.POLLIN)
        while True:
            try:
                with self.lock:
                    active = self.run is not None and bool(self.calls)
                    prompts = self.prompts() if active else ()
                    self.idle.clear() if active else self.idle.set()
                for prompt in prompts:
                    self.send(prompt)
                poller.register(channel, zmq.POLLIN if active else 0)
                ready = dict(poller.poll())
                if bell in ready:
                    self.bell.recv(1 << 10)
                if channel in ready:
                    self.receive(channel)
            except Exception as error:
                self.kernel.log.warning("toolcell: calls", exc_info=True)
                self.fail("the call, or its answer, was lost in the kernel: %r" % error)
                time.sleep(0.05)

    def prompts(self):
        """The prompts that are to be sent. The lock is held."""
        prompts = []
        while self.queue:
            calls, size = [], 0
            while self.queue and size < BATCH:
                id, name, data = self.queue.popleft()
                size += len(data)
                calls.append("[%d,%s,%s]" % (id, json.dumps(name), data))
            prompts.append('%s{"epoch":%d,"calls":[%s]}' % (self.nonce, self.epoch, ",".join(calls)))
        return prompts

    def send(self, prompt):
        from jupyter_client.session import msg_header

        session = self.kernel.session
        self.sequence += 1
        # An id of its own: the session counts those that it makes, and not for
        # two threads at once.
        header = msg_header("%s-%d" % (self.nonce, self.sequence), "input_request", session.username, session.session)
        message = session.msg("input_request", {"prompt": prompt, "password": False}, parent={"header": self.parent}, header=header)
        session.send(self.kernel.stdin_socket, message, ident=self.ident)

    def receive(self, channel):
        """Takes the replies that have come."""
        while True:
            _, message = self.kernel.session.recv(channel)
            if message is None:
                return
            value = message["content"].get("value")
            if self.is_answer(value):
                self.take(json.loads(value[len(self.nonce):]))

    def take(self, answer):
        id, how, text = answer["id"], answer["how"], answer["text"]
        with self.lock:
            if answer["run"] != self.run:
                return
            if how == "lost":
                self.epoch = id
            elif id not in self.calls:
                return
            elif how == "more":
                self.parts.setdefault(id, []).append(text)
                return
            else:
                text = "".join(self.parts.pop(id, [])) + text
                waiter = self.calls.pop(id)
        if how == "lost":
            self.fail("the connection was lost during the call, which may have been made")
        else:
            waiter.give((how == "ok", text))

    def is_active(self):
        """Whether the cell in progress is a program of the client's that calls."""
        return self.run is not None

    def is_answer(self, value):
        """Whether what was read is an answer to a call, which may have ended."""
        return bool(self.nonce) and isinstance(value, str) and value.startswith(self.nonce)


def flush():
    """Sends what was printed, by child processes too."""
    drain()
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "_flush_pending", True):  # to flush waits for the kernel's own thread
            with contextlib.suppress(Exception):
                stream.flush()


def call(name, args, kwargs):
    __tracebackhide__ = True
    data = arguments(name, args, kwargs)
    flush()
    waiter = Waiter()
    try:
        pump.enter(name, data, waiter)
        waiter.lock.acquire()
    finally:
        pump.leave(waiter)
    return outcome(name, *waiter.answer)


async def call_aio(name, args, kwargs):
    __tracebackhide__ = True
    data = arguments(name, args, kwargs)
    flush()
    pending = Pending()
    try:
        pump.enter(name, data, pending)
        answer = await pending.future
    finally:
        pump.leave(pending)
    return outcome(name, *answer)
