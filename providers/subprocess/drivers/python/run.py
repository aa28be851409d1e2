# Running programs. This follows streams.py in one source; what it says of
# programs that await, fail or have syntax trees is in later/run.py.

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
    return state.once and sys.implementation.name == 'cpython' and compile_quickly(code, name) or compile_tree(code, name)


def evaluate(body, last):
    """Runs the statements and returns the value of the last expression. Where
    one of them awaits, all of it runs in asyncio's loop."""
    if not any(c is not None and c.co_flags & COROUTINE for c in (body, last)):
        if body is not None:
            eval_(body, space)
        return None if last is None else eval_(last, space)
    return evaluate_awaiting(body, last)


def within(f, *args): f(*args)  # in one line, which dropping gives another number


SIMPLE = int, float, str, bytes, bool, complex  # with which nothing is lost


def dropping(name, line, drop, *args):
    """Calls what drops an object of the program's. Python tells the file and the
    line that run when it warns of what was lost with the object."""
    type_(within)(within.__code__.replace(co_filename=name, co_firstlineno=line), globals())(drop, *args)


def last_line(last):
    """Returns the line of the last expression."""
    if not hasattr(last, 'co_lines'):  # in Python 3.9
        return last.co_firstlineno + sum(n - 256 if n > 127 else n for n in last.co_lnotab[1::2])
    return [1, *(line for *_, line in last.co_lines() if line)][-1]


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
            if value is not None and not shows_itself(value):
                bundle, meta = bundle_of(value)
                figure = modules.get('matplotlib.figure')
                if figure and isinstance_(value, figure.Figure) and modules.get('matplotlib.pyplot'):
                    modules['matplotlib.pyplot'].close(value)
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
        if value is not None and type_(value) not in SIMPLE:
            box, value = [value], None
            dropping(name, last_line(last), box.clear)
        return 'ok', 0, None
    if PYLAB in modules:
        last_figures()
    return ended


def leave(e):
    if state.loop is not None:
        ends_earlier(e)  # the program ran the loop itself, and ends all the same
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


NO_ERROR = b'', b'', b'0', b'', b'', b'0'
reserve = bytes(1 << 20)  # so that there is memory left to say that there is none


def serve_run(fields):
    code = fields[1].decode()
    try:
        figures()  # of threads and tasks, since the run before: they come as late
    except BaseException:
        drop_figures()
    with gate:
        state.seq, state.busy, state.announced = fields[0].decode(), True, False
        state.interrupts, state.confirmed, state.again = 0, 0, False
    if not state.once:
        run_of.set(state.seq)
        route()
    if not later:
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
        remember(name, code)
        how, status, error = run(code, name)
    except BaseException as e:
        error = e
    state.running, state.off = False, None
    settrace(None)
    setprofile(None)
    # A child that the program has forked came here too; the end is the parent's to
    # tell.
    if getpid() != pid:
        if error is not None:
            tell_of_child(error, name)
        flush()
        flush_c()
        exit_now(status if how != 'error' else 1)
    about = NO_ERROR
    if error is not None:
        about = describe_safely(error, name)
        box, error = [error], None
        dropping('sys', 1, box.clear)
    return how, status, about, old


def tell_of_child(e, name):
    """Prints the error that ends a process forked by the program, which has no result."""
    try:
        sys.stderr.write(describe_safely(e, name)[4].rstrip('\n') + '\n')
    except BaseException:
        pass


def describe_safely(e, name):
    """Returns what describe does of an error, and the least of that where a
    program has broken what it takes."""
    global reserve
    reserve = None
    try:
        return describe(e, name)
    except BaseException:
        return type_(e).__name__[:MAX_ID], '', 0, '', '', 0


def finish(how, status, about, old):
    restore_env(old)
    flush()
    flush_c()
    with gate:
        state.busy = False
    if loops:
        end_calls()
    (send if state.once else send_last)(b'Z', state.seq, how, status, *about)


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
                    dropping('sys', 1, space.__setitem__, k, None)
        finally:
            state.running = False
    except BaseException:
        pass
    finish(how, status, about, [])
    exit_now(status)


def configure(fields):
    set_env(fields[1:])
    implementation = {'cpython': 'CPython'}.get(sys.implementation.name, sys.implementation.name)
    send(b'H', implementation + ' ' + sys.version.split()[0])
    state.once = state.open = fields[0] == b'once'
    if not state.once:
        load()
        number_runs()
        mark_streams()


def preload(names):
    """Imports modules for the programs to come and reports their files, in
    which the host looks for changes; says hello with a ! if it cannot."""
    for name in names:
        name = name.decode()
        try:
            __import__(name)
        except BaseException as e:
            send(b'H', '!%s: %s: %s' % (name, type_(e).__name__, e))
            exit_now(1)
    files = (getattr(module, '__file__', None) for module in list(modules.values()) if names)
    send(b'Y', b'\0'.join(os.fsencode(file) for file in files if isinstance_(file, str)))


def loop():
    while True:
        kind, fields = obtain(expect(None))
        if kind == b'O':
            complete(fields)
        elif kind == b'C':
            configure(fields)
        elif kind == b'M':
            load()
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
sys.__stdin__ = sys.stdin = state.given = NoInput()
sys.meta_path.insert(0, Finder(find_completed))
sys.meta_path.append(Finder(find_absent))
sys.meta_path.append(Finder(find_missing))
builtins.display, builtins.update_display, builtins.clear_output = display, update_display, clear_output
set_handler(SIGINT, on_interrupt)
_signal.signal, _signal.getsignal = signal, get_signal
