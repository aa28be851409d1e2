# Running programs. This follows streams.py in one source.

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


STRICT = 'error', None, SyntaxWarning, None, 0  # a filter; such a warning would tell the wrong name of the file


class Compiled(Exception):
    """Ends what is compiled before any of it runs."""


def compiled(run, source):
    """Returns what exec or eval make of a source."""
    def stop(frame, event, arg):
        if frame.f_code.co_filename == '<string>':
            raise Compiled(frame.f_code)

    try:
        settrace(stop)
        run(source, {'__builtins__': {}})
    except Compiled as e:
        return e.args[0]
    finally:
        settrace(None)
    raise Compiled


def named(code, name):
    """Returns a code object whose file has the name."""
    consts = tuple(named(c, name) if type_(c) is type_(code) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=consts)


def compile_quickly(code, name):
    """Returns what compile_cell does for a program that ends with an expression in
    a line of its own, and for some of them None.

    compile makes the types of syntax trees when it is first called, which takes a
    twentieth of a single run's time; exec and eval do without. What is whole before
    the last line, and in it, means the same together."""
    rest, _, line = code.rstrip(' \t\n').rpartition('\n')  # other blanks are errors
    if not line[:1].isalpha() or rest.endswith('\\') or 'warnings' in modules or gettrace() is not None:
        return None
    try:
        import _warnings
        filters, mutated = _warnings.filters, _warnings._filters_mutated
        filters.insert(0, STRICT)
    except Exception:
        return None
    try:
        mutated()
        last = compiled(eval_, '\n' * code.count('\n', 0, len(rest) + 1) + line)
        body = compiled(exec_, rest + '\n') if rest.strip() else None
        if body is not None and body.co_flags & FUTURES:
            return None
        return body and named(body, name), named(last, name)
    except Exception:
        return None
    finally:
        filters.remove(STRICT)
        mutated()


def compile_cell(code, name):
    """Returns the code objects of the statements and of the last expression."""
    quick = state.once and sys.implementation.name == 'cpython' and compile_quickly(code, name)
    if quick:
        return quick
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


def evaluate(body, last):
    """Runs the statements and returns the value of the last expression. Where
    one of them awaits, all of it runs in asyncio's loop."""
    if not any(c is not None and c.co_flags & COROUTINE for c in (body, last)):
        if body is not None:
            eval_(body, space)
        return None if last is None else eval_(last, space)
    import asyncio
    if state.loop is None or state.loop.is_closed():
        state.loop = asyncio.new_event_loop()
    asyncio.set_event_loop(state.loop)
    stopped = []
    task = state.loop.create_task(whole(body, last, stopped))
    try:
        return state.loop.run_until_complete(task)
    except BaseException as e:
        if not task.done():
            task.cancel()
            try:
                state.loop.run_until_complete(task)
            except BaseException:
                pass
            if stopped and not has_frames(e.__traceback__):
                e.__traceback__ = stopped[0]  # what stopped the loop does not know where the program was
        raise
    finally:
        if state.once:
            end_tasks(asyncio, state.loop)


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


def remember(name, code):
    entry = (len(code), None, [l + '\n' for l in code.split('\n')], name)
    sources[name] = entry
    old = None
    if len(sources) > MAX_CELLS:
        old = next(iter(sources))
        del sources[old]
    linecache = modules.get('linecache')
    if linecache:
        try:
            linecache.cache[name] = entry
            linecache.cache.pop(old, None)
        except Exception:
            pass


def run(code, name):
    """Runs a program. Returns how it ended, the exit code and the error."""
    body = last = value = None
    try:
        try:
            with hold:
                state.running = True
                if not state.once:
                    look_for_interrupt()
            body, last = compile_cell(code, name)
            value = evaluate(body, last)
            body = last = None
            if value is not None:
                bundle, meta = bundle_of(value)
                figure = modules.get('matplotlib.figure')
                if figure and isinstance_(value, figure.Figure) and modules.get('matplotlib.pyplot'):
                    modules['matplotlib.pyplot'].close(value)
                state.running = False
                show('result', bundle, meta, '', to_json(value))
                state.running = True
            figures()
        finally:
            state.running = False
    except SystemExit as e:
        ended = leave(e)
    except BaseException as e:
        ended = 'error', 1, e
    else:
        return 'ok', 0, None
    last_figures()
    return ended


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


def leave(e):
    code = e.code
    if code is None:
        return 'exit', 0, None
    if isinstance_(code, int):
        return 'exit', code & 0xFF, None
    try:
        sys.stderr.write(str(code) + '\n')
    except Exception:
        pass
    return 'exit', 1, None


def own_frames(e):
    """Takes the driver's own frames from an error's traceback, and returns it."""
    tb, last = e.__traceback__, None
    while tb is not None and tb.tb_frame.f_code.co_filename not in sources:
        tb = tb.tb_next
    e.__traceback__ = tb
    while tb is not None:
        if tb.tb_frame.f_code.co_filename != OWN:
            # Without the loop that runs a program's tasks. Only there: to set it walks
            # through all that follow.
            if last is not None and last.tb_next is not tb:
                last.tb_next = tb
            last = tb
        tb = tb.tb_next
    if last is not None and last.tb_next is not None:
        last.tb_next = None  # what follows is the driver's
    return e.__traceback__


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


NO_ERROR = b'', b'', b'0', b'', b'', b'0'


def serve_run(fields):
    code = fields[1].decode()
    try:
        figures()  # of threads and tasks, since the run before: they come as late
    except BaseException:
        drop_figures()
    with gate:
        state.seq, state.busy, state.announced = fields[0].decode(), True, False
        state.interrupts = state.told = 0
    run_of.set(state.seq)
    renew()
    state.cell += 1
    name = state.name = '<cell %d>' % state.cell
    if code.startswith('\ufeff'):
        code = code[1:]
    code = code.replace('\r\n', '\n').replace('\r', '\n')
    old = []
    how, status, error = 'error', 1, None
    try:
        old = set_env(fields[3:])
        name = state.name = state.script or name
        set_stdin(fields[2])
        route()
        remember(name, code)
        how, status, error = run(code, name)
    except BaseException as e:
        error = e
    state.running = False
    settrace(None)
    setprofile(None)
    if getpid() != pid:
        flush()
        flush_c()
        exit_now(status if how != 'error' else 1)
    about = NO_ERROR
    if error is not None:
        about = describe(error, name)
        error = None
    return how, status, about, old


def finish(how, status, about, old):
    restore_env(old)
    flush()
    flush_c()
    with gate:
        state.busy = False
    if loops:
        end_calls()
    send(b'Z', state.seq, how, status, *about)


def end(how, status, about):
    """Ends a stateless process as the interpreter would: threads, atexit, and
    the program's objects."""
    threading = modules.get('threading')
    try:
        try:
            state.running = True
            if threading:
                threading._shutdown()
            figures()  # before matplotlib's own handler closes them
            if 'atexit' in modules or 'atexit' in sys.builtin_module_names:
                import atexit
                atexit._run_exitfuncs()
            flush()
            for k in list(space):
                if not k.startswith('__'):
                    space[k] = None
        finally:
            state.running = False
    except BaseException:
        pass
    finish(how, status, about, [])
    exit_now(status)


def number_runs():
    """Has tasks know which of several runs they belong to."""
    global run_of
    from _contextvars import ContextVar
    run_of = ContextVar('run_of', default=None)


def configure(fields):
    if fields[0]:
        os.chdir(fields[0])
    set_env(fields[2:])
    implementation = {'cpython': 'CPython'}.get(sys.implementation.name, sys.implementation.name)
    send(b'H', implementation + ' ' + sys.version.split()[0])
    state.once = fields[1] == b'once'
    if not state.once:
        number_runs()


def preload(names):
    """Imports modules for the programs to come; says hello with a ! if it
    cannot."""
    for name in names:
        name = name.decode()
        try:
            __import__(name)
        except BaseException as e:
            send(b'H', '!%s: %s: %s' % (name, type_(e).__name__, e))
            exit_now(1)


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


def loop():
    while True:
        kind, fields = obtain(expect(None))
        if kind == b'O':
            complete(fields)
        elif kind == b'C':
            configure(fields)
        elif kind == b'M':
            preload(fields)
        elif kind == b'N':
            offer([name.decode() for name in fields])
        elif kind == b'R':
            how, status, about, old = serve_run(fields)
            if state.once:
                end(how, status, about)
            finish(how, status, about, old)


for k in list(space):
    if not k.startswith('__'):
        del space[k]
os.set_inheritable(CONTROL, False)
sys.argv = ['']
sys.path.append('')
stdout, stderr = stream(1, '<stdout>', 'surrogateescape'), stream(2, '<stderr>', 'backslashreplace')
sys.stdout = sys.__stdout__ = stdout
sys.stderr = sys.__stderr__ = stderr
sys.__stdin__ = sys.stdin = NoInput()
sys.meta_path.insert(0, Finder())
sys.meta_path.append(Absent())
sys.meta_path.append(Missing())
if 'threading' in modules:
    note_starts(modules['threading'])
set_handler(SIGINT, on_interrupt)
_signal.signal, _signal.getsignal = signal, get_signal
