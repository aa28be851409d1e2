# asyncio without sockets, and the start of the driver.


SIGNALS = SIGINT,  # there are no others


def make_loops():
    """Lets asyncio wait in the host: there is nothing else to wait for."""
    asyncio = own_import('asyncio')
    selectors = own_import('selectors')

    class Selector(selectors._BaseSelectorImpl):
        def select(self, timeout=None):
            if timeout is None or timeout > 0 or waiting:
                settle(ask(b'W', -1 if timeout is None else int(max(timeout, 0) * 1e6 + 0.999)) or ())
            return []

    class Loop(asyncio.SelectorEventLoop):
        def __init__(self, selector=None):
            super().__init__(Selector())

        def _make_self_pipe(self):
            self._ssock = self._csock = None
            self._internal_fds = 0

        def _close_self_pipe(self):
            pass

        def _write_to_self(self):
            pass

    Loop.__name__ = Loop.__qualname__ = asyncio.SelectorEventLoop.__name__
    Loop.__module__ = asyncio.SelectorEventLoop.__module__
    asyncio.SelectorEventLoop = Loop
    get = getattr(asyncio.events, '_get_event_loop_policy', None) or asyncio.get_event_loop_policy
    type(get())._loop_factory = Loop


def set_stdin(given):
    """Gives the run its standard input. What a program has put in the place of
    sys.stdin stays there, except in runs that are given some."""
    now = sys.__dict__.get('stdin', state.given)
    if not given and not state.stdin and now is state.given and not now.closed:
        return  # it is as empty as before
    own = state.aside if now is state.given else now
    stream = stdin_of()
    state.stdin, state.given = bool(given), stream
    sys.__stdin__ = stream
    sys.stdin = stream if given or own is None else own
    state.aside = own if given else None


packages = modules['_toolcell'] if hasattr(modules['_toolcell'], 'load') else None  # of the science pack


def differ():
    """Gives a copy random numbers of its own."""
    if 'random' in modules:
        modules['random'].seed()
    if 'tempfile' in modules:
        modules['tempfile']._name_sequence = None
    if packages:
        packages.differ()


def begin(fields):
    """Makes a copy of the first interpreter one of its own: kind, directory, file,
    then the arguments."""
    differ()
    packages = os.path.join(os.path.dirname(os.path.dirname(os.__file__)), 'packages')
    if os.path.isdir(packages):
        sys.path.append(packages)
    os.chdir(fields[1])
    if fields[2]:
        state.script = fields[2].decode()
        space['__file__'] = os.path.abspath(state.script)
    if fields[3:]:
        sys.argv = [arg.decode() for arg in fields[3:]]
    state.once = state.open = fields[0] == b'once'
    if not state.once:
        number_runs()
        mark_streams()


def next_turn():
    kind, fields = fields_of(request(frame_of(b'?', ())))
    if kind == b'C':
        begin(fields)
    elif kind == b'F':
        differ()
    else:
        serve(kind, fields)


PRELOAD = '''abc ast base64 bisect calendar collections contextlib copy csv dataclasses datetime decimal difflib enum
    fractions functools glob hashlib heapq html inspect io itertools json linecache math operator os pathlib pprint random
    re secrets select shutil statistics string struct tempfile textwrap time traceback typing types unittest urllib.parse
    uuid zlib zoneinfo'''.split()


def add_builtins():
    """Adds exit, help and the like, which site does elsewhere. There is no terminal, so
    help prints."""
    site = own_import('site')
    site.setquit()
    site.setcopyright()
    site.sethelper()
    pager = modules['_pyrepl.pager'] = type(sys)('_pyrepl.pager')
    modules['_pyrepl'] = type(sys)('_pyrepl')

    def plain(text):
        return own_import('re').sub('.\b', '', text)

    def show_page(text, title=''):
        sys.stdout.write(plain(text))

    pager.plain, pager.get_pager = plain, lambda: show_page
    pager.pipe_pager = pager.plain_pager = pager.tempfile_pager = pager.tty_pager = show_page


def times():
    """Stands for os.times: the C library's counts in other units."""
    time = own_import('time')
    return os.times_result((time.process_time(), 0.0, 0.0, 0.0, time.monotonic()))


def remember_frames():
    """Lets traceback format a frame once, and not each of a thousand that are the same."""
    stack = own_import('traceback').StackSummary
    plain, texts = stack.format_frame_summary, {}

    def format_frame_summary(self, frame, **kw):
        key = frame.filename, frame.name, frame.lineno, frame.end_lineno, frame.colno, frame.end_colno, frame._original_lines
        if frame.locals or key not in texts:
            if len(texts) > 64:
                texts.clear()
            texts[key] = plain(self, frame, **kw)
        return texts[key]

    stack.format_frame_summary = format_frame_summary


def classes():
    """Returns all classes."""
    found, todo = {object}, [object]
    while todo:
        for c in type.__subclasses__(todo.pop()):
            if c not in found:
                found.add(c)
                todo.append(c)
    return found


def warm():
    """Does once what each copy would do otherwise."""
    make_loops()
    add_builtins()
    own_import('_socket').getaddrinfo = no_network
    COMPLETE['http.client'] = with_exchanges
    os.times = times
    for name in PRELOAD:
        own_import(name)
    remember_frames()
    try:
        eval(compile('1 / 0', '<cell 0>', 'eval'))
    except ZeroDivisionError as e:
        describe(e, '<cell 0>')
    compile_tree('x = 1\nx', '<cell 0>')
    bundle_of([1])
    to_json([1])
    for name in '/tmp', '/':
        os.path.isdir(name)
    if packages:
        packages.load()
    import gc
    gc.collect()
    immortalize(gc.get_objects() + [vars(c) for c in classes()])
    gc.freeze()


from _toolcell import immortalize, serve as set_server
prepare()
warm()
set_server(next_turn)
send(b'H', sys.version.split()[0])
