# The fork server: the driver, with the modules of the M frame imported, forks a
# child for each F frame and reports its pid (P) and its wait status (W). The
# child puts on the isolation that the frame describes before it reads anything
# else, and becomes a driver. It follows run.py in one source.


def serve_forks():
    import _socket, select, resource, ctypes, gc, array
    libc = ctypes.CDLL(None, use_errno=True)
    control = _socket.socket(fileno=CONTROL)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    # The end of a child wakes poll, which takes a handler.
    _signal.signal(_signal.SIGCHLD, lambda *args: None)
    _signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    server = getpid()
    children = set()
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN)
    poll.register(wake, select.POLLIN)
    warm_up()
    gc.collect()
    # So that collections in the children write to none of the memory that they share.
    gc.freeze()
    send(b'H', sys.version.split()[0])
    while True:
        for fd, _ in poll.poll():
            if fd == wake:
                read(wake, 4096)
                reap(children)
                continue
            fields, fds = receive_fork(control, array)
            child = os.fork()
            if child == 0:
                try:
                    isolate(fields, fds, server, libc, ctypes, resource)
                    control.detach()
                    os.close(wake)
                    os.close(waker)
                    return
                except BaseException as e:
                    write(2, ('isolation: %s\n' % (e,)).encode())
                    exit_now(126)
            state.forked = False  # no child keeps this channel
            children.add(child)
            for fd in fds:
                os.close(fd)
            send(b'P', fields[0], child)


def warm_up():
    """Does once what takes time when it is done first: every child would have to."""
    compile_cell('x = 0\nx', OWN)  # the compiler's types of trees
    import atexit, _contextvars


def reap(children):
    """Reports the children that ended. Programs can give the server others,
    whose status is reported to no one."""
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        if child in children:
            children.remove(child)
            send(b'W', child, status)


def receive_fork(control, array):
    """Reads an F frame and the descriptors that come with it."""
    data, fds, size = b'', array.array('i'), None
    while size is None or len(data) < size:
        part, rights, _, _ = control.recvmsg(65536 if size is None else size - len(data), 256)
        if not part:
            exit_now(0)
        for _, _, b in rights:
            fds.frombytes(b[:len(b) - len(b) % fds.itemsize])
        data += part
        if size is None and len(data) >= 8:
            size = 8 + int(data[:8], 16)
    fields, i = [], 9
    while i < size:
        n = int(data[i:i + 8], 16)
        fields.append(data[i + 8:i + 8 + n])
        i += 8 + n
    return fields, list(fds)


def isolate(fields, fds, server, libc, ctypes, resource):
    """Applies a Layer, in the order of its fields, and takes the descriptors
    of the run."""
    global pid
    _signal.set_wakeup_fd(-1)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    group, death, workdir, rlimits, seccomp = fields[1:6]
    if int(group):
        os.setpgid(0, int(group))
    pid = getpid()
    if int(death):
        check(libc.prctl(1, int(death), 0, 0, 0), ctypes)
        # It may have died before the signal was asked for, which then never comes.
        if os.getppid() != server:
            exit_now(126)
    state.forked = False
    os.chdir(workdir)
    environ.clear()
    for i in range(6, len(fields), 2):
        environb[fields[i]] = fields[i + 1]
    for to, fd in ((1, fds[0]), (2, fds[1]), (CONTROL, fds[2])):
        os.dup2(fd, to, to != CONTROL)
    ruleset = fds[3] if len(fds) > 3 else None
    for fd in fds[:3]:
        os.close(fd)
    open_streams()
    reseed()
    for item in rlimits.split():
        what, soft, hard = (int(n) for n in item.split(b':'))
        resource.setrlimit(what, (signed(soft), signed(hard)))
    if ruleset is not None:
        check(libc.syscall(ctypes.c_long(446), ctypes.c_int(ruleset), ctypes.c_int(0)), ctypes)
        os.close(ruleset)
    if seccomp:
        class Program(ctypes.Structure):
            _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]

        code = ctypes.create_string_buffer(bytes(seccomp), len(seccomp))
        program = Program(len(seccomp) // 8, ctypes.addressof(code))
        check(libc.prctl(22, 2, ctypes.byref(program), 0, 0), ctypes)


def signed(n):
    return -1 if n >= 1 << 63 else n


def check(result, ctypes):
    if result != 0:
        raise OSError(ctypes.get_errno(), 'isolation cannot be applied')


def reseed():
    """Gives the child random numbers of its own; random does so by itself."""
    random = modules.get('numpy.random')
    if random:
        random.seed()


kind, names = obtain(expect(None))
preload(names)
report_modules(names)
serve_forks()
loop()
