# Programs that take more than one look, and contexts of many.

class Refused(SyntaxError):
    pass


def parse(code, name, flags):
    """Returns the program's syntax tree, also where all of it is indented."""
    try:
        return compile_(code, name, 'exec', flags | TREE, True)
    except IndentationError:
        first = next((l for l in code.split('\n') if l.strip() and not l.lstrip().startswith('#')), '')
        if not first[:1].isspace():
            raise
        try:
            tree = compile_('if 1:\n' + code, name, 'exec', flags | TREE, True)
        except SyntaxError:
            tree = None
        if tree is None or len(tree.body) != 1:
            raise
        import ast
        ast.increment_lineno(tree, -1)
        tree.body = tree.body[0].body
        return tree
    except SyntaxError as e:
        installing = with_pip(code) if installs() else None
        if installing is not None:
            return parse(installing, name, flags)
        refuse_magic(code, e)
        raise


def refuse_magic(code, e):
    """Says it where the syntax error is IPython's own syntax."""
    lines = code.split('\n')
    line = lines[e.lineno - 1].strip() if e.lineno and e.lineno <= len(lines) else ''
    first = next((l.strip() for l in lines if l.strip()), '')
    for at in (first if first.startswith('%%') else '', line):
        if at[:1] in ('%', '!') or at.endswith('?') and at.rstrip('?').replace('.', '').isidentifier():
            word = at.split()[0]
            hint = 'use the subprocess module' if at.startswith('!') else 'use plain Python'
            if at.lstrip('!%').split()[:1] in (['pip'], ['pip3'], ['conda'], ['mamba'], ['uv']):
                hint = 'programs install no packages here; use those that are there, or ask for others'
            raise Refused('%s is IPython syntax, and this is plain Python: %s' % (word, hint),
                          (e.filename, e.lineno, 1, lines[e.lineno - 1] if line else at)) from None


def silenced(code, node):
    """Tells whether the last expression ends with a semicolon."""
    end = getattr(node, 'end_lineno', None)
    if not end or ';' not in code:
        return False
    lines = code.split('\n')
    rest = lines[end - 1].encode()[node.end_col_offset:].strip()
    return rest.startswith(b';')


def compile_tree(code, name):
    """Returns what compile_cell does, of any program."""
    flags = state.flags | AWAIT
    tree = parse(code, name, flags)
    last = None
    if tree.body and type_(tree.body[-1]).__name__ == 'Expr':
        node = tree.body[-1]
        if not silenced(code, node):
            tree.body.pop()
            import _ast
            last = _ast.Expression(body=node.value)
    body = None
    if tree.body:
        body = compile_(tree, name, 'exec', flags, True)
        flags |= body.co_flags & FUTURES
    if last is not None:
        last = compile_(last, name, 'eval', flags, True)
    state.flags |= flags & FUTURES
    return body, last


def evaluate_awaiting(body, last):
    """Runs a program of which a part awaits."""
    stopped, task = [], None
    try:
        # The modules of a package whose import is cut off stay, and the next import takes
        # them for its own; a task that nobody knows would run on its own.
        with hold:
            import asyncio
            if state.loop is None or state.loop.is_closed():
                state.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(state.loop)
            task = state.loop.create_task(whole(body, last, stopped))
        return finish_task(task)
    except BaseException as e:
        if task and not task.done():
            task.cancel()
            cancel_out(task)
            if stopped and not has_frames(e.__traceback__):
                e.__traceback__ = stopped[0]  # what stopped the loop does not know where the program was
        raise
    finally:
        if task and state.once:
            end_tasks(asyncio, state.loop)


def finish_task(task):
    """Runs the loop until a task is done. An exit in an earlier run's task ends that
    task alone: so it does where no program awaits."""
    while True:
        try:
            return state.loop.run_until_complete(task)
        except (SystemExit, KeyboardInterrupt) as e:
            if not ends_earlier(e):
                raise


def cancel_out(task):
    """Runs the loop until a task that was canceled is done. What ended the program goes
    before other exits."""
    while not task.done():
        try:
            finish_task(task)
        except SystemExit:
            pass
        except BaseException:
            return


def put_off(frame):
    """Tells whether an interrupt is to wait for what it has come upon."""
    state.off = state.off or PutOff()
    return waits(state.off, frame)


LEFT = 'Exception in a task of a run that is over:\n'
HANDLED = 'Exception in a handler of a signal, when no run awaited:\n'


def ends_earlier(e):
    """Tells, late, of an exit in a task of an earlier run; False where it is none."""
    handle = raised_in(e)
    if handle is None:
        return False
    see(getattr(handle._callback, '__self__', None))
    if state.once or not isinstance_(e, SystemExit) or handle._context.get(run_of) in (None, state.seq):
        return False
    tell_late(LEFT, e)
    return True


def tell_late(what, e):
    try:
        report = report_of(e)
    except Exception:
        report = type_(e).__name__ + '\n'
    send_text_late('stderr', what + report)


def tell_between(e):
    """Tells of what ended the loop between two runs. Returns whether it may go on."""
    handle = raised_in(e)
    if handle is not None:
        see(getattr(handle._callback, '__self__', None))
        tell_late(LEFT, e)
    elif is_handled(e):
        tell_late(HANDLED, e)
    elif not isinstance_(e, KeyboardInterrupt):
        return False
    return True


def is_handled(e):
    """Tells whether a handler of a signal raised an error."""
    tb = e.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code is Handler.__call__.__code__:
            return True
        tb = tb.tb_next
    return False


def raised_in(e):
    """Returns the callback of the program's loop that raised an error, or None."""
    tb, step = e.__traceback__, modules['asyncio'].Handle._run.__code__
    while tb is not None:
        if tb.tb_frame.f_code is step:
            handle = tb.tb_frame.f_locals['self']
            return handle if handle._loop is state.loop else None
        tb = tb.tb_next
    return None


def see(task):
    """Has no more told of what ended a task, as would be once the task is forgotten."""
    if isinstance_(task, modules['asyncio'].Future) and task.done() and not task.cancelled():
        task.exception()


def end_tasks(asyncio, loop):
    """Cancels the tasks that a run of its own leaves, as asyncio.run does."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    for task in left:
        if not task.cancelled() and task.exception() is not None:
            loop.call_exception_handler({
                'message': 'unhandled exception when the run ended', 'exception': task.exception(), 'task': task})
    loop.run_until_complete(loop.shutdown_asyncgens())


async def whole(body, last, stopped):
    value = None
    try:
        for code in (body, last):
            if code is not None:
                value = eval_(code, space)
                if code.co_flags & COROUTINE:
                    value = await value
    except modules['asyncio'].CancelledError as e:
        stopped.append(e.__traceback__)
        raise
    return None if last is None else value


def has_frames(tb):
    """Tells whether any frame of a traceback is a program's."""
    while tb is not None and tb.tb_frame.f_code.co_filename not in sources:
        tb = tb.tb_next
    return tb is not None


class One:
    """Stands for a ContextVar where there is one run, which all belongs to: the
    import takes a hundredth of that run's time."""

    def get(self):
        return None


run_of = One()  # the number of the run that a task belongs to, and what asyncio.to_thread runs


def present():
    """Returns the number of the run that what runs here belongs to, or None."""
    return run_of.get() or belongs.to


def enter(seq):
    """Has what this thread does belong to a run, and returns what undoes that."""
    token = run_of.set(seq)
    return lambda: run_of.reset(token)


def number_runs():
    """Has tasks know which of several runs they belong to."""
    global run_of
    from _contextvars import ContextVar
    run_of = ContextVar('run_of', default=None)


completer = {}


def complete(fields):
    answer = 0, 0, ''
    try:
        if not completer:
            completer.update(__builtins__=__builtins__, space=space)
            exec_(compile_(fields[1], OWN, 'exec'), completer)
        answer = completer['complete'](fields[2], int(fields[3]))
    except BaseException:
        pass  # there is nothing to complete with
    send(b'B', fields[0], *answer)
