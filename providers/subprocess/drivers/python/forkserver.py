# The fork server: the driver, with the modules of the M frame imported, forks a child for
# each F frame and reports its wait status too (W). The child applies the isolation that the
# frame describes before it reads anything else, and becomes a driver. This follows fork.py in
# one source.


def serve_forks():
    import select, resource, ctypes, gc, json, base64
    libc = ctypes.CDLL(None, use_errno=True)
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
            receive_all()
            number, _, _, _, env, layer = inbox.pop(0)[1]
            fds = given[:]
            given.clear()
            child = os.fork()
            if child == 0:
                try:
                    isolate(json.loads(layer), env, fds, server, libc, ctypes, resource, base64)
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
            send(b'P', child, number)


def warm_up():
    """Does once what takes time when it is done first: every child would have to."""
    load('later')
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


def isolate(layer, env, fds, server, libc, ctypes, resource, base64):
    """Applies a sandbox.Layer, in the order of its fields, and takes the descriptors of the
    run."""
    global pid
    _signal.set_wakeup_fd(-1)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    if layer['Group']:
        os.setpgid(0, layer['Group'])
    pid = getpid()
    if layer['DeathSignal']:
        check(libc.prctl(1, layer['DeathSignal'], 0, 0, 0), ctypes)
        # It may have died before the signal was asked for, which then never comes.
        if os.getppid() != server:
            exit_now(126)
    state.forked = False
    os.chdir(layer['Workdir'])
    environ.clear()
    for pair in env.split(b'\0'):
        name, _, environb[name] = pair.partition(b'=')
    for to, fd in ((1, fds[0]), (2, fds[1]), (CONTROL, fds[2])):
        os.dup2(fd, to, to != CONTROL)
    for fd in fds[:3]:
        os.close(fd)
    open_streams()
    reseed()
    for limit in layer['Rlimits']:
        resource.setrlimit(limit['Resource'], (signed(limit['Soft']), signed(limit['Hard'])))
    if len(fds) > 3:
        check(libc.syscall(ctypes.c_long(446), ctypes.c_int(fds[3]), ctypes.c_int(0)), ctypes)
        os.close(fds[3])
    if layer['Seccomp']:
        class Program(ctypes.Structure):
            _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]

        filters = base64.b64decode(layer['Seccomp'])
        code = ctypes.create_string_buffer(filters, len(filters))
        program = Program(len(filters) // 8, ctypes.addressof(code))
        check(libc.prctl(22, 2, ctypes.byref(program), 0, 0), ctypes)


def signed(n):
    return -1 if n >= 1 << 63 else n


def check(result, ctypes):
    if result != 0:
        raise OSError(ctypes.get_errno(), 'isolation cannot be applied')


kind, names = obtain(expect(None))
preload(names)
report_modules(names)
serve_forks()
loop()
