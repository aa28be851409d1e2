# How errors are reported.


def shortened(s, limit):
    """Returns s, with its middle left out where it is longer than the limit in bytes,
    and counts that."""
    if len(s) <= limit // 4:
        return s  # no character takes more than 4 bytes
    b = text(s)
    if len(b) <= limit:
        return s
    half = limit // 2 - 50
    state.lost += len(b) - 2 * half
    head, tail = b[:half].decode('utf-8', 'ignore'), b[len(b) - half:].decode('utf-8', 'ignore')
    return '%s\n[%d bytes are left out]\n%s' % (head, len(b) - 2 * half, tail)


def last_figures():
    """Shows the open figures of a program that is over already. None stays for the next
    one."""
    if getpid() != pid:
        return  # they are those of the process that forked this one
    try:
        try:
            state.running = True
            figures()
        finally:
            state.running = False
    except BaseException as e:
        n = drop_figures()
        sys.stderr.write('matplotlib: %d open figures were dropped: %s\n' % (n, type(e).__name__))


def first_of_program(tb):
    """Returns a traceback from its first frame in a program on."""
    while tb is not None and tb.tb_frame.f_code.co_filename not in sources:
        tb = tb.tb_next
    return tb


def relinked(tb):
    """Returns a traceback without the driver's frames."""
    first = last = None
    while tb is not None:
        if tb.tb_frame.f_code.co_filename != OWN:
            if last is None:
                first = tb
            elif last.tb_next is not tb:
                last.tb_next = tb  # only here: to set it walks through all that follow
            last = tb
        tb = tb.tb_next
    if last is not None and last.tb_next is not None:
        last.tb_next = None
    return first


def without_own(error):
    """Takes the driver's frames from the tracebacks of an error, of those that it came
    of and of those that it holds, and returns its traceback. An error that others came of
    and that is left without a frame is left out."""
    errors, gone, todo = {}, {}, [error]
    while todo:
        e = todo.pop()
        if not isinstance(e, BaseException) or id(e) in errors:
            continue
        errors[id(e)] = e
        before = e.__traceback__
        e.__traceback__ = relinked(first_of_program(before) or before)
        if before is not None and e.__traceback__ is None and e is not error:
            gone[id(e)] = e
        group = getattr(e, 'exceptions', ())
        todo += [e.__cause__, e.__context__, *(group if type(group) is tuple else ())]
    for e in errors.values():
        came_of, passed = e.__context__, set()
        while id(came_of) in gone and id(came_of) not in passed:
            passed.add(id(came_of))
            came_of = came_of.__context__
        if passed:
            e.__context__ = came_of
    return error.__traceback__


def report_of(e):
    """Returns an error's traceback as python prints it."""
    traceback = own_import('traceback')
    return ''.join(traceback.TracebackException(type(e), e, without_own(e)).format())


def describe(e, name):
    """Returns name, message, line, missing module and traceback of an error, and how
    many bytes are left out of them."""
    kind = type(e).__name__
    try:
        message = str(e.msg) if isinstance(e, SyntaxError) else str(e)
    except BaseException:
        message = '<the error has no readable message>'
    line, tb = 0, without_own(e)
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == name:
            line = tb.tb_lineno
        tb = tb.tb_next
    if isinstance(e, SyntaxError) and e.filename == name:
        line = e.lineno or 0
    missing = ''
    if isinstance(e, ModuleNotFoundError) and type(e.name) is str:
        missing = e.name
    try:
        report = report_of(e)
    except BaseException:
        report = '%s: %s' % (kind, message)
    state.lost = 0
    parts = shortened(kind, MAX_ID), shortened(message, MAX_MESSAGE), line, shortened(missing, MAX_ID), shortened(report, MAX_TRACEBACK)
    return parts + (state.lost,)
