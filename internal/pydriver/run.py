# Running programs.

STRICT = 'error', None, SyntaxWarning, None, 0  # a filter; such a warning would name another file


class Compiled(Exception):
    """Ends what is compiled before any of it runs."""


def compiled(run, source):
    """Returns what exec or eval make of a source."""
    def stop(frame, event, arg):
        if frame.f_code.co_filename == '<string>':
            raise Compiled(frame.f_code)

    try:
        sys.settrace(stop)
        run(source, {'__builtins__': {}})
    except Compiled as e:
        return e.args[0]
    finally:
        sys.settrace(None)
    raise Compiled


def named(code, name):
    """Returns a code object whose file has the name."""
    consts = tuple(named(c, name) if type(c) is type(code) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=consts)


def compile_quickly(code, name):
    """Returns what compile_cell does for a program that ends with an expression in
    a line of its own, and for some of them None.

    compile makes the types of syntax trees when it is first called, which takes a
    twentieth of a single run's time; exec and eval do without. What is whole before
    the last line, and in it, means the same together."""
    rest, _, line = code.rstrip(' \t\n').rpartition('\n')  # other blanks are errors
    if not line[:1].isalpha() or rest.endswith('\\') or 'warnings' in modules or sys.gettrace() is not None:
        return None
    try:
        import _warnings
        filters, mutated = _warnings.filters, _warnings._filters_mutated
        filters.insert(0, STRICT)
    except Exception:
        return None
    try:
        mutated()
        last = compiled(eval, '\n' * code.count('\n', 0, len(rest) + 1) + line)
        body = compiled(exec, rest + '\n') if rest.strip() else None
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
    return state.once and sys.implementation.name == 'cpython' and compile_quickly(code, name) or compile_line(code, name) or compile_tree(code, name)


def compile_line(code, name):
    """Returns what compile_cell does for a line that is an expression, and of any other
    program None. There is no syntax tree to be made, which takes more than the rest."""
    if len(code) > 200 or '\n' in code or '\\' in code or '=' in code or code[:1].isspace():
        return None
    try:
        return None, compile(code, name, 'eval', state.flags | AWAIT, True)
    except Exception:
        return None


def parse(code, name, flags):
    """Returns the program's syntax tree, also where all of it is indented."""
    try:
        return compile(code, name, 'exec', flags | TREE, True)
    except IndentationError:
        first = next((l for l in code.split('\n') if l.strip() and not l.lstrip().startswith('#')), '')
        if not first[:1].isspace():
            raise
        try:
            tree = compile('if 1:\n' + code, name, 'exec', flags | TREE, True)
        except SyntaxError:
            tree = None
        if tree is None or len(tree.body) != 1:
            raise
        own_import('ast').increment_lineno(tree, -1)
        tree.body = tree.body[0].body
        return tree
    except SyntaxError as e:
        cell = translated(code, e)
        if cell is None:
            raise
        return compile(cell, name, 'exec', flags | TREE, True)


def translated(code, e):
    """Returns the Python of a cell in IPython's syntax, None of any other."""
    if '%' not in code and '!' not in code and '?' not in code:
        return None
    load('magics')
    return translate(code, e)


def get_ipython():
    """Returns the part of IPython's shell that programs made of notebooks use."""
    load('magics')
    return Shell()


get_ipython.__module__ = 'builtins'


def silenced(code, node):
    """Tells whether the last expression ends with a semicolon."""
    end = getattr(node, 'end_lineno', None)
    if not end or ';' not in code:
        return False
    rest = code.split('\n')[end - 1].encode()[node.end_col_offset:].strip()
    return rest.startswith(b';')


def compile_tree(code, name):
    """Returns what compile_cell does, of any program."""
    flags = state.flags | AWAIT
    tree = parse(code, name, flags)
    last = None
    if tree.body and type(tree.body[-1]).__name__ == 'Expr':
        node = tree.body[-1]
        if not silenced(code, node):
            tree.body.pop()
            last = own_import('_ast').Expression(body=node.value)
    body = None
    if tree.body:
        body = compile(tree, name, 'exec', flags, True)
        flags |= body.co_flags & FUTURES
    if last is not None:
        last = compile(last, name, 'eval', flags, True)
    state.flags |= flags & FUTURES
    return body, last


def evaluate(body, last):
    """Runs the statements and returns the value of the last expression. Where one of
    them awaits, all of it runs in asyncio's loop."""
    if not ((body.co_flags if body else 0) | (last.co_flags if last else 0)) & COROUTINE:
        if body is not None:
            eval(body, space)
        return None if last is None else eval(last, space)
    return evaluate_awaiting(body, last)


def open_loop():
    """Returns the loop of the context."""
    with hold:
        asyncio = own_import('asyncio')
        if state.loop is None or state.loop.is_closed():
            state.loop = asyncio.SelectorEventLoop()  # not a policy's: is_cut_off has to see the frames of its callbacks
        asyncio.set_event_loop(state.loop)
    return state.loop


def evaluate_awaiting(body, last):
    stopped, task = [], None
    try:
        with hold:  # half an import stays in sys.modules
            asyncio = own_import('asyncio')
            task = open_loop().create_task(whole(body, last, stopped))
        return state.loop.run_until_complete(task)
    except BaseException as e:
        if task and not task.done():
            task.cancel()
            while not task.done():
                try:
                    state.loop.run_until_complete(task)
                except SystemExit:
                    pass
                except BaseException:
                    break
            if stopped and not isinstance(e, SystemExit) and first_of_program(e.__traceback__) is None:
                e.__traceback__ = stopped[0]  # what stopped the loop does not know where the program was
        raise
    finally:
        if task and state.once:
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
                value = eval(code, space)
                if code.co_flags & COROUTINE:
                    value = await value
    except modules['asyncio'].CancelledError as e:
        stopped.append(e.__traceback__)
        raise
    return None if last is None else value


def between_runs():
    """Lets asyncio's tasks go on until the host has something to say. What ends the loop
    before that, as an exit in a task does, ends no other task."""
    loop, ready = state.loop, new_poller()
    for _ in range(1000):
        if not has_tasks():
            return
        try:
            loop.add_reader(CONTROL, loop.stop)
            try:
                loop.run_forever()
            finally:
                loop.remove_reader(CONTROL)
        except BaseException as e:
            report_late(e)
        if ready(0):
            return


def report_late(e):
    try:
        report = report_of(e)
    except Exception:
        report = type(e).__name__ + '\n'
    send_late('stderr', 'Exception between two runs:\n' + report)


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


def copy_script(code):
    """Gives a program whose file it cannot read a copy, which pytest, inspect and
    multiprocessing find by __file__."""
    file = space.get('__file__')
    if not state.script or type(file) is not str:
        return
    try:
        os.close(os.open(file, os.O_RDONLY))
        return
    except OSError:
        pass
    # In .cache it is no file of the program's, also where TMPDIR is the run's directory.
    folder = os.path.join(environ.get('TMPDIR') or '/tmp', '.cache', 'toolcell-%d' % getpid())
    try:
        os.makedirs(folder, 0o700)
        copy = os.path.join(folder, os.path.basename(file))
        with open(copy, 'wb') as f:
            f.write(text(code))
        space['__file__'] = copy
    except OSError:
        pass  # it goes without


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
            if value is not None:
                if not state.once:
                    keep(value)
                if not shows_itself(value):
                    bundle, meta = bundle_of(value)
                    close_shown(value)
                    state.running = False
                    # It has its value: no interrupt is to take that away.
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
    if PYLAB in modules:
        last_figures()
    return ended


def keep(value):
    """Makes a value _ and _N, as in a notebook, unless the program has a _ of its own."""
    if space.get('_', state.last) is state.last:
        space['_'] = state.last = value
    space['_%d' % state.cell] = value
    space.pop('_%d' % (state.cell - MAX_VALUES), None)


def is_cut_off(tb):
    """Tells whether a signal handler or a task of an earlier run has raised what has the
    traceback."""
    before = None
    while tb is not None:
        frame = tb.tb_frame
        code, local = frame.f_code, frame.f_locals
        names = code.co_varnames
        values = [local.get(name) for name in names[:code.co_argcount]]
        if code.co_flags & VARARGS:
            values += local.get(names[code.co_argcount + code.co_kwonlyargcount], ())
        for number, interrupted in zip(values, values[1:]):
            if before is not None and interrupted is before and type(number) is int and number in state.handlers:
                now = getsignal(number)
                if now is state.handlers[number] or not callable(now):
                    return True
        if code.co_name == '_run':  # of asyncio's handles
            context = getattr(local.get('self'), '_context', None)
            if context is not None and context.get(run_of) != state.seq:
                return True
        before, tb = frame, tb.tb_next
    return False


def leave(e):
    code = e.code
    if not state.once and is_cut_off(e.__traceback__):
        error = SystemExit('code of an earlier run called exit(%s) during this one' % ('' if code is None else repr(code)))
        return 'error', isinstance(code, int) and code & 0xFF or 1, error.with_traceback(e.__traceback__)
    if code is None:
        return 'exit', 0, None
    if isinstance(code, int):
        return 'exit', code & 0xFF, None
    try:
        sys.stderr.write(str(code) + '\n')
    except Exception:
        pass
    return 'exit', 1, None


SIGNALS = range(1, _signal.NSIG)
NO_ERROR = b'', b'', b'0', b'', b'', b'0'
reserve = bytes(1 << 20)  # so that there is memory left to say that there is none


def serve_run(fields):
    code = fields[1].decode()
    try:
        figures()  # of threads and tasks, since the run before: they come as late
    except BaseException:
        drop_figures()
    with gate:
        state.seq, state.busy = fields[0].decode(), True
        if state.announced != state.seq:
            state.announced = ''
        state.interrupts, state.confirmed = 0, 0
    if not state.once:
        run_of.set(state.seq)
        state.handlers = {n: h for n in SIGNALS for h in [getsignal(n)] if callable(h)}
        route()
    renew()
    state.cell += 1
    name = '<cell %d>' % state.cell
    if code.startswith('\ufeff'):
        code = code[1:]
    code = code.replace('\r\n', '\n').replace('\r', '\n')
    old = []
    how, status, error = 'error', 1, None
    try:
        old = set_env(fields[3:])
        name = state.name = state.script or name
        set_stdin(fields[2])
        remember(name, code)
        copy_script(code)
        how, status, error = run(code, name)
    except BaseException as e:
        error = e
    state.running = False
    sys.settrace(None)
    sys.setprofile(None)
    # A child that the program has forked came here too; the run ends with its parent.
    if getpid() != pid:
        if error is not None:
            print_error(error, name)
        flush()
        flush_c()
        exit_now(status if how != 'error' else 1)
    if error is not None and state.once and sys.excepthook is not sys.__excepthook__:
        try:
            sys.excepthook(type(error), error, without_own(error))
            how, error = 'exit', None
        except BaseException as e:
            error = e
    about = NO_ERROR
    if error is not None:
        about = describe_safely(error, name)
    return how, status, about, old


def print_error(e, name):
    """Prints the error that ends a process without a result."""
    try:
        sys.stderr.write(describe_safely(e, name)[4].rstrip('\n') + '\n')
    except BaseException:
        pass


def describe_safely(e, name):
    """Returns what describe does of an error, and the least of that where a program has
    broken what it takes."""
    global reserve
    reserve = None
    try:
        return describe(e, name)
    except BaseException:
        return type(e).__name__[:MAX_ID], '', 0, '', '', 0


def finish(how, status, about, old):
    restore_env(old)
    flush()
    flush_c()
    with gate:
        state.busy = False
    if loops:
        end_calls()
    try:
        (send if state.once else send_last)(b'Z', state.seq, how, status, *about)
    except OSError:  # the program has closed the channel: the host sees the exit code
        if how == 'error':
            sys.stderr.write(about[4])
            flush()
        exit_now(status)


def end(how, status, about):
    """Ends a stateless process as the interpreter would: threads, atexit, and the
    program's objects."""
    threading = modules.get('threading')
    try:
        try:
            state.running = True
            if threading:
                threading._shutdown()
            figures()  # before matplotlib's own handler closes them
            if 'atexit' in modules:
                modules['atexit']._run_exitfuncs()
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


def configure(fields):
    set_env(fields[1:])
    environ.setdefault('PLOTLY_RENDERER', PLOTLY)
    implementation = {'cpython': 'CPython'}.get(sys.implementation.name, sys.implementation.name)
    send(b'H', implementation + ' ' + sys.version.split()[0])
    state.once = state.open = fields[0] == b'once'
    if not state.once:
        number_runs()
        load('later')
        mark_streams()
        for name in 'json', 'traceback', 'select':  # while the host prepares the first run
            own_import(name)


def preload(names):
    """Imports modules for the programs to come; says hello with a ! if it cannot."""
    for name in names:
        name = name.decode()
        try:
            __import__(name)
        except BaseException as e:
            send(b'H', '!%s: %s: %s' % (name, type(e).__name__, e))
            exit_now(1)


def report_modules(names):
    """Reports the files of the modules that were imported: the host looks for changes."""
    files = (getattr(module, '__file__', None) for module in list(modules.values()) if names)
    send(b'Y', b'\0'.join(os.fsencode(file) for file in files if isinstance(file, str)))


completer = {}


def complete(fields):
    answer = 0, 0, ''
    try:
        if not completer:
            completer.update(__builtins__=__builtins__, space=space, own_import=own_import)
            exec(compile(fields[1], OWN, 'exec'), completer)
        answer = completer['complete'](fields[2], int(fields[3]))
    except BaseException:
        pass  # there is nothing to complete with
    send(b'B', fields[0], *answer)


def serve(kind, fields):
    if kind == b'O':
        complete(fields)
    elif kind == b'C':
        configure(fields)
    elif kind == b'M':
        preload(fields)
        report_modules(fields)
    elif kind == b'N':
        offer([name.decode() for name in fields])
    elif kind == b'F':
        copy_context(*fields)
    elif kind == b'R':
        how, status, about, old = serve_run(fields)
        if state.once:
            end(how, status, about)
        finish(how, status, about, old)


def prepare():
    """Makes the interpreter ready for programs."""
    for k in list(space):
        if not k.startswith('__'):
            del space[k]
    sys.argv = ['']
    sys.path.append('')
    path.append('')
    open_streams()
    sys.__stdin__ = sys.stdin = state.given = stdin_of()
    sys.meta_path.insert(0, Finder(find_completed))
    meta_path[:] = sys.meta_path
    sys.meta_path.append(Finder(find_absent))
    sys.meta_path.append(Finder(find_missing))
    builtins.display, builtins.update_display, builtins.clear_output = display, update_display, clear_output
    builtins.input, builtins.get_ipython = no_input, get_ipython
    set_handler(SIGINT, on_interrupt)
