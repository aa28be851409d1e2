# How errors are told. This follows pyframes' source in one source.

def shortened(s, limit):
    """Returns s with its middle left out, and told, where it is longer than
    the limit in bytes, and counts it."""
    if len(s) <= limit // 4:
        return s  # no character takes more than 4 bytes
    b = text(s)
    if len(b) <= limit:
        return s
    half = limit // 2 - 50
    state.lost += len(b) - 2 * half
    head, tail = b[:half].decode('utf-8', 'ignore'), b[len(b) - half:].decode('utf-8', 'ignore')
    return '%s\n[%d bytes are left out]\n%s' % (head, len(b) - 2 * half, tail)


def shortened_lines(s):
    lines = s.split('\n')
    if len(lines) <= MAX_LINES:
        return s
    half = MAX_LINES // 2 - 1
    state.lost += sum(len(l) + 1 for l in lines[half:-half])
    return '\n'.join(lines[:half] + ['[%d lines are left out]' % (len(lines) - 2 * half)] + lines[-half:])


def last_figures():
    """Shows the open figures of a program that is over already. None stays for
    the next one."""
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
        sys.stderr.write('matplotlib: %d open figures were dropped: %s\n' % (n, type_(e).__name__))


def own_frames(e):
    """Takes the driver's own frames from the traceback of an error, and from those of
    the errors that it came of or holds, and returns it."""
    tb = e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename not in sources:
        tb = tb.tb_next
    e.__traceback__ = tb
    try:
        drop_frames(e, lambda outermost: is_own)
    except Exception:
        pass  # one of them is no error as others are
    return e.__traceback__


def is_own(frame):
    """Tells whether a frame is the driver's. The loop that runs a program's tasks has
    some between those of the program."""
    return frame.f_code.co_filename == OWN


def report_of(e):
    """Returns an error's traceback as python prints it."""
    import traceback
    tb = own_frames(e)
    report = ''.join(traceback.TracebackException(type_(e), e, tb).format())
    return report.replace('toolcell.Refused: ', 'SyntaxError: ').replace('Refused: ', 'SyntaxError: ', 1)


def describe(e, name):
    """Returns name, message, line, missing module and traceback of an error,
    and how many bytes are left out of them."""
    kind = type_(e).__name__
    if kind == 'Refused':
        kind = 'SyntaxError'
    try:
        message = str(e.msg) if isinstance_(e, SyntaxError) else str(e)
    except BaseException:
        message = '<the error has no readable message>'
    line, tb = 0, own_frames(e)
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == name:
            line = tb.tb_lineno
        tb = tb.tb_next
    if isinstance_(e, SyntaxError) and e.filename == name:
        line = e.lineno or 0
    missing = ''
    if isinstance_(e, ModuleNotFoundError) and type_(e.name) is str:
        missing = e.name
    try:
        report = report_of(e)
    except BaseException:
        report = '%s: %s' % (kind, message)
    state.lost = 0
    parts = shortened(kind, MAX_ID), shortened(message, MAX_MESSAGE), line, shortened(missing, MAX_ID), shortened_lines(shortened(report, MAX_TRACEBACK))
    return parts + (state.lost,)
