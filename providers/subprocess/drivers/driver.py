"""The Python driver: runs programs in __main__ and speaks frames on fd 3.

It imports nothing at its start but what every interpreter has loaded, since
start-up time is what a stateless run mostly costs. Its own state lives in this
namespace, not in __main__, and what it needs of builtins and modules is bound
here before any program can replace it.
"""
import sys, os, io, builtins, _signal
from _thread import allocate_lock, get_ident

CONTROL = 3
LIMIT = 48 << 20  # bytes of one show; the host refuses frames of 64 MiB
AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
TREE = 0x400  # ast.PyCF_ONLY_AST
COROUTINE = 0x80  # inspect.CO_COROUTINE
FUTURES = 0x1FF0000  # the compiler flags of __future__ imports
MAX_CELLS = 2000  # sources kept for tracebacks

main = sys.modules['__main__']
space = main.__dict__
environ, environb = os.environ, os.environb
read, write, fsencode, getpid, exit_now = os.read, os.write, os.fsencode, os.getpid, os._exit
compile_, exec_, eval_, repr_, type_, isinstance_ = compile, exec, eval, repr, type, isinstance
modules = sys.modules
settrace, setprofile = sys.settrace, sys.setprofile


class State:
    seq = ''  # of the run in progress
    cell = 0  # number of runs
    name = ''  # file name of the run in progress
    running = False  # the program may be interrupted
    flags = 0  # of __future__ imports so far
    shows = 0
    loop = None  # asyncio's, once a program awaited at its top level
    stdin = False  # fd 0 is a file of this run


state = State()
pid = getpid()
sources = {}  # file name -> linecache entry
sending = allocate_lock()
showing = allocate_lock()


# --- frames ----------------------------------------------------------------

def take(n):
    parts = []
    while n > 0:
        try:
            b = read(CONTROL, n)
        except InterruptedError:
            continue
        if not b:
            exit_now(0)
        parts.append(b)
        n -= len(b)
    return b''.join(parts)


def receive():
    body = take(int(take(8), 16))
    fields, i = [], 1
    while i < len(body):
        n = int(body[i:i + 8], 16)
        fields.append(body[i + 8:i + 8 + n])
        i += 8 + n
    return body[:1], fields


def text(v):
    return v if type_(v) is bytes else str(v).encode('utf-8', 'backslashreplace')


def send(kind, *fields):
    parts, size = [], 1
    for v in fields:
        v = text(v)
        parts.append(b'%08x' % len(v))
        parts.append(v)
        size += 8 + len(v)
    data = memoryview(b'%08x%s' % (size, kind) + b''.join(parts))
    with sending:
        while data:
            data = data[write(CONTROL, data):]


# --- values ----------------------------------------------------------------

class Unfaithful(Exception):
    pass


def to_json(v):
    """Returns v as JSON, or '' where that would not be the same value."""
    out, size = [], 0

    def put(s):
        nonlocal size
        size += len(s)
        if size > 1 << 20:
            raise Unfaithful
        out.append(s)

    def walk(v, depth):
        t = type_(v)
        if v is None or t is bool:
            put('null' if v is None else 'true' if v else 'false')
        elif t is int:
            if v.bit_length() > 10000:
                raise Unfaithful
            put(repr_(v))
        elif t is float:
            if v != v or v in (float('inf'), float('-inf')):
                raise Unfaithful
            put(repr_(v))
        elif t is str:
            from _json import encode_basestring
            v.encode()
            put(encode_basestring(v))
        elif depth > 100:
            raise Unfaithful
        elif t is list or t is tuple:
            for i, e in enumerate(v):
                put('[' if i == 0 else ',')
                walk(e, depth + 1)
            put(']' if v else '[]')
        elif t is dict:
            for i, (k, e) in enumerate(v.items()):
                if type_(k) is not str:
                    raise Unfaithful
                put('{' if i == 0 else ',')
                walk(k, depth + 1)
                put(':')
                walk(e, depth + 1)
            put('}' if v else '{}')
        else:
            raise Unfaithful

    try:
        walk(v, 0)
    except (Unfaithful, UnicodeEncodeError):
        return ''
    return ''.join(out)


REPRS = (('_repr_html_', 'text/html'), ('_repr_markdown_', 'text/markdown'), ('_repr_latex_', 'text/latex'),
         ('_repr_svg_', 'image/svg+xml'), ('_repr_png_', 'image/png'), ('_repr_jpeg_', 'image/jpeg'),
         ('_repr_json_', 'application/json'), ('_repr_javascript_', 'application/javascript'), ('_repr_pdf_', 'application/pdf'))
PLAIN = (int, float, str, bytes, list, tuple, dict, set, frozenset, bool, complex)


def method(v, name):
    """Returns the method that v's class has for its representation."""
    if isinstance_(v, type_):
        return None
    try:
        f = getattr(type_(v), name, None)
        return getattr(v, name) if callable(f) else None
    except Exception:
        return None


def bundle_of(v):
    """Returns v's representations and their metadata."""
    bundle, meta = {}, {}
    if type_(v) not in PLAIN:
        f = method(v, '_repr_mimebundle_')
        if f:
            got = f(include=None, exclude=None)
            if isinstance_(got, tuple):
                got, meta = got
            bundle.update(got or {})
        for name, mime in REPRS:
            if mime in bundle:
                continue
            f = method(v, name)
            got = f() if f else None
            if isinstance_(got, tuple) and len(got) == 2:
                got, extra = got
                meta[mime] = extra
            if got is not None:
                bundle[mime] = got
        figure = modules.get('matplotlib.figure')
        if figure and 'image/png' not in bundle and isinstance_(v, figure.Figure):
            bundle['image/png'] = png_of(v)
    if 'text/plain' not in bundle:
        bundle['text/plain'] = repr_(v)
    return bundle, meta


def png_of(figure):
    out = io.BytesIO()
    figure.savefig(out, format='png', bbox_inches='tight')
    return out.getvalue()


def binary(mime):
    return not (mime.startswith('text/') or mime.endswith(('json', 'xml', 'javascript')))


def encoded(mime, data):
    """Returns a representation as the bytes that the host wants."""
    mime = mime.lower()
    if mime.endswith('json'):
        import json
        if isinstance_(data, (str, bytes)):
            json.loads(data)
            return text(data)
        return json.dumps(data, allow_nan=False).encode()
    if isinstance_(data, (bytes, bytearray, memoryview)):
        if not binary(mime):
            data.decode()
        return bytes(data)
    if not isinstance_(data, str):
        raise TypeError('%s data is %s, not str or bytes' % (mime, type_(data).__name__))
    if binary(mime):
        from binascii import a2b_base64, b2a_base64
        data = ''.join(data.split()).encode()
        out = a2b_base64(data)
        if b2a_base64(out, newline=False).rstrip(b'=') != data.rstrip(b'='):
            raise ValueError('it is neither bytes nor base64')
        return out
    return text(data)


def show(kind, bundle, meta=None, ident='', value=''):
    """Sends a bundle, and waits until the host has put it in its place."""
    flush()
    fields, size = [], len(value)
    for mime, data in bundle.items():
        try:
            data = encoded(mime, data)
        except Exception as e:
            sys.stderr.write('display: %s was dropped: %s\n' % (mime, e))
            continue
        size += len(data)
        if size > LIMIT:
            send(b'T', state.seq, 'result' if kind == 'result' else 'display', size)
            return
        fields += [mime, data]
    if kind in ('display', 'update') and not fields:
        return
    about = b''
    if meta:
        try:
            about = encoded('application/json', meta)
        except Exception as e:
            sys.stderr.write('display: the metadata was dropped: %s\n' % e)
    if kind == 'result':
        send(b'D', state.seq, 0, kind, ident, about, value, *fields)
        return
    with showing:
        state.shows += 1
        n = str(state.shows).encode()
        send(b'D', state.seq, n, kind, ident, about, value, *fields)
        while True:
            got, answer = receive()
            if got == b'A' and answer[0] == n:
                return


# --- what programs call ----------------------------------------------------

class DisplayHandle:
    """A display that can be shown again or replaced."""

    def __init__(self, display_id=None):
        self.display_id = display_id or os.urandom(16).hex()

    def __repr__(self):
        return '<DisplayHandle display_id=%s>' % self.display_id

    def display(self, obj, **kw):
        display(obj, display_id=self.display_id, **kw)

    def update(self, obj, **kw):
        update_display(obj, display_id=self.display_id, **kw)


def display(*objs, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False, **kw):
    """Shows objects by their rich representations.

    With display_id=True, or an id, the display can be updated later, by
    update_display or the handle that is returned.
    """
    if clear:
        clear_output(wait=True)
    handle = DisplayHandle(None if display_id is True else display_id) if display_id else None
    show_all('display', objs, include, exclude, metadata, handle.display_id if handle else '', raw)
    return handle


def update_display(obj, *, display_id, include=None, exclude=None, metadata=None, transient=None, raw=False, **kw):
    """Replaces the displays that have the id."""
    show_all('update', (obj,), include, exclude, metadata, display_id, raw)


def show_all(kind, objs, include, exclude, metadata, ident, raw):
    for obj in objs:
        if not raw and kind == 'display':
            f = method(obj, '_ipython_display_')
            if f:
                f()
                continue
        bundle, meta = (dict(obj), {}) if raw else bundle_of(obj)
        meta = {**meta, **(metadata or {})}
        bundle = {k: v for k, v in bundle.items() if (not include or k in include) and (not exclude or k not in exclude)}
        show(kind, bundle, meta, ident)


def clear_output(wait=False):
    """Withdraws what the run has shown and printed; with wait, once there is more."""
    show('clear wait' if wait else 'clear', {})


def figures():
    """Shows matplotlib's open figures, and closes them."""
    helpers = modules.get('matplotlib._pylab_helpers')
    if not helpers:
        return
    for manager in helpers.Gcf.get_all_fig_managers():
        figure = manager.canvas.figure
        helpers.Gcf.destroy(manager.num)
        display(figure)


builtins.display, builtins.update_display, builtins.clear_output = display, update_display, clear_output


# --- imports that need a hand ----------------------------------------------

class Finder:
    """Completes modules as they are imported: linecache gets the sources of
    the programs, matplotlib a backend that shows, IPython.display ours."""

    def find_spec(self, name, path=None, target=None):
        then = LATER.get(name)
        if not then or get_ident() in self.busy:
            return None
        self.busy.add(get_ident())
        try:
            from importlib.util import find_spec
            spec = find_spec(name)
        except (ImportError, ValueError):
            return None
        finally:
            self.busy.discard(get_ident())
        if spec is None or spec.loader is None:
            return None
        spec.loader = Loader(spec.loader, then)
        return spec

    busy = set()


class Loader:
    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.then(self.loader, module)


def with_sources(loader, module):
    loader.exec_module(module)
    module.cache.update(sources)


def with_backend(loader, module):
    own = 'MPLBACKEND' not in environ
    if own:
        backend = type_(sys)('toolcell_figures', 'Shows figures through the host.')
        modules[backend.__name__] = backend
        backend.__getattr__ = lambda name: backend_part(backend, name)
        environ['MPLBACKEND'] = 'module://' + backend.__name__
    try:
        loader.exec_module(module)
    finally:
        if own:
            del environ['MPLBACKEND']


def backend_part(backend, name):
    if name.startswith('__'):
        raise AttributeError(name)
    from matplotlib.backends import backend_agg
    for k in ('FigureCanvas', 'FigureManager', 'new_figure_manager', 'new_figure_manager_given_figure'):
        if hasattr(backend_agg, k):
            setattr(backend, k, getattr(backend_agg, k))
    agg = getattr(backend_agg, '_BackendAgg', None)
    if agg and not hasattr(backend_agg, 'new_figure_manager'):
        backend.new_figure_manager = agg.new_figure_manager
        backend.new_figure_manager_given_figure = agg.new_figure_manager_given_figure
    backend.show = lambda *args, **kw: figures()
    if name not in backend.__dict__:
        raise AttributeError(name)
    return backend.__dict__[name]


def with_display(loader, module):
    loader.exec_module(module)
    for k in ('display', 'update_display', 'clear_output', 'DisplayHandle'):
        if hasattr(module, k):
            setattr(module, k, globals()[k])


LATER = {'linecache': with_sources, 'matplotlib': with_backend, 'IPython.core.display_functions': with_display,
         'IPython.display': with_display}


class Absent:
    """Stands in for IPython.display where IPython is not installed: programs
    written for notebooks import display, HTML, Image and their like from it."""

    def find_spec(self, name, path=None, target=None):
        if name not in ('IPython', 'IPython.display'):
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, self, is_package=name == 'IPython')

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ == 'IPython':
            module.__doc__ = 'Stands in for IPython, which is not installed: only IPython.display is there.'
            module.version_info, module.__version__ = (8, 24, 0), '8.24.0'
            module.get_ipython = lambda: None
            return
        module.display, module.update_display, module.clear_output = display, update_display, clear_output
        module.DisplayHandle = DisplayHandle
        for name, mime in (('HTML', 'text/html'), ('Markdown', 'text/markdown'), ('Latex', 'text/latex'), ('Math', 'text/latex'),
                           ('SVG', 'image/svg+xml'), ('JSON', 'application/json'), ('Javascript', 'application/javascript'),
                           ('Pretty', 'text/plain'), ('Image', 'image/png')):
            setattr(module, name, rich_class(name, mime))


def rich_class(name, mime):
    def __init__(self, data=None, filename=None, metadata=None, format=None, **kw):
        if data is None and filename is None:
            raise TypeError('%s() needs data or filename; addresses are not fetched' % name)
        self.mime = 'image/jpeg' if name == 'Image' and (format in ('jpg', 'jpeg')) else mime
        if isinstance_(data, str) and name in ('Image', 'SVG') and not data.lstrip().startswith('<') and os.path.exists(data):
            data, filename = None, data
        if data is None:
            with open(filename, 'rb') as f:
                data = f.read()
            if not binary(mime):
                data = data.decode()
        if self.mime == 'image/png' and bytes(data[:2] if not isinstance_(data, str) else b'') == b'\xff\xd8':
            self.mime = 'image/jpeg'
        self.data, self.metadata = data, metadata or {}

    def bundle(self, include=None, exclude=None):
        data = '$\\displaystyle %s$' % self.data.strip('$') if name == 'Math' else self.data
        out = {self.mime: data}
        if self.mime != 'text/plain':
            out['text/plain'] = '<IPython.core.display.%s object>' % name
        return out, ({self.mime: self.metadata} if self.metadata else {})

    return type_(name, (), {'__init__': __init__, '_repr_mimebundle_': bundle, '__module__': 'IPython.core.display'})


# --- streams ---------------------------------------------------------------

class NoInput(io.TextIOBase):
    """Standard input of a run that was given none."""

    encoding, errors, mode, name = 'utf-8', 'strict', 'r', '<stdin>'

    def fileno(self):
        return 0

    def readable(self):
        return True

    def refuse(self, *args):
        raise EOFError('there is no standard input: this run was given none')

    read = readline = readlines = __next__ = refuse


def stream(fd, name, errors):
    raw = io.FileIO(fd, 'w', closefd=False)
    out = io.TextIOWrapper(io.BufferedWriter(raw, 1 << 16), encoding='utf-8', errors=errors, newline='\n', write_through=False, line_buffering=True)
    out.mode = 'w'
    raw.name = name
    return out


class Router(io.TextIOBase):
    """Standard output while threads of earlier runs live: what they print is
    sent as late."""

    encoding = 'utf-8'

    def __init__(self, own, name, old):
        self.own, self.label, self.old = own, name, old

    def write(self, s):
        if get_ident() not in self.old:
            return self.own.write(s)
        if isinstance_(s, str):
            send(b'L', self.label, s)
            return len(s)
        raise TypeError('write() argument must be str, not %s' % type_(s).__name__)

    def __getattr__(self, name):
        return getattr(self.own, name)

    def flush(self):
        self.own.flush()

    def fileno(self):
        return self.own.fileno()

    def writable(self):
        return True

    @property
    def buffer(self):
        return self.own.buffer


def flush():
    for s in (sys.stdout, sys.stderr, stdout, stderr):
        try:
            s.flush()
        except Exception:
            pass


def route():
    """Puts Routers in place where threads of earlier runs are alive."""
    if type_(sys.stdout) is Router:
        sys.stdout = sys.stdout.own
    if type_(sys.stderr) is Router:
        sys.stderr = sys.stderr.own
    threading = modules.get('threading')
    if threading and len(threading._active) > 1:
        old = set(threading._active)
        old.discard(get_ident())
        sys.stdout, sys.stderr = Router(sys.stdout, 'stdout', old), Router(sys.stderr, 'stderr', old)


def set_stdin(path):
    if path:
        fd = os.open(path, os.O_RDONLY)
        os.unlink(path)
        os.dup2(fd, 0)
        os.close(fd)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding='utf-8', errors='surrogateescape')
        state.stdin = True
        return
    if state.stdin:
        fd = os.open('/dev/null', os.O_RDONLY)
        os.dup2(fd, 0)
        os.close(fd)
        state.stdin = False
    sys.stdin = NoInput()


def set_env(pairs):
    """Sets variables, and returns what they were before."""
    old = []
    for i in range(0, len(pairs), 2):
        k, v = pairs[i], pairs[i + 1]
        old.append((k, environb.get(k)))
        environb[k] = v
        if k == b'TZ':
            import time
            time.tzset()
    return old


def restore_env(old):
    for k, v in old:
        if v is None:
            environb.pop(k, None)
        else:
            environb[k] = v
        if k == b'TZ':
            import time
            time.tzset()


# --- running ---------------------------------------------------------------

def on_interrupt(signum, frame):
    if state.running:
        state.running = False
        raise KeyboardInterrupt


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
            raise Refused('%s is IPython syntax, and this is plain Python: %s' % (word, hint),
                          (e.filename, e.lineno, 1, lines[e.lineno - 1] if line else at)) from None


def silenced(code, node):
    """Tells whether the last expression ends with a semicolon."""
    end = getattr(node, 'end_lineno', None)
    if not end:
        return False
    lines = code.split('\n')
    rest = lines[end - 1].encode()[node.end_col_offset:].strip()
    return rest.startswith(b';')


def compile_cell(code, name):
    """Returns the code objects of the statements and of the last expression."""
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


def evaluate(code):
    v = eval_(code, space)
    if code.co_flags & COROUTINE:
        import asyncio
        if state.loop is None or state.loop.is_closed():
            state.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(state.loop)
        task = state.loop.create_task(v)
        try:
            v = state.loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                task.cancel()
                try:
                    state.loop.run_until_complete(task)
                except BaseException:
                    pass
            raise
    return v


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
            state.running = True
            body, last = compile_cell(code, name)
            if body is not None:
                evaluate(body)
            if last is not None:
                value = evaluate(last)
                last = None
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
        return leave(e)
    except KeyboardInterrupt as e:
        return 'interrupt', 130, e
    except BaseException as e:
        return 'error', 1, e
    return 'ok', 0, None


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


def describe(e, name):
    """Returns name, message, line, missing module and traceback of an error."""
    kind = type_(e).__name__
    if kind == 'Refused':
        kind = 'SyntaxError'
    try:
        message = str(e.msg) if isinstance_(e, SyntaxError) else str(e)
    except BaseException:
        message = '<the error has no readable message>'
    line, tb = 0, e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename not in sources:
        tb = tb.tb_next
    e.__traceback__ = tb
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
        import traceback
        report = ''.join(traceback.TracebackException(type_(e), e, e.__traceback__).format())
        report = report.replace('toolcell.Refused: ', 'SyntaxError: ').replace('Refused: ', 'SyntaxError: ', 1)
    except BaseException:
        report = '%s: %s' % (kind, message)
    return kind, message, line, missing, report


def serve_run(fields):
    state.seq, code = fields[0].decode(), fields[1].decode()
    state.cell += 1
    name = state.name = '<cell %d>' % state.cell
    if code.startswith('\ufeff'):
        code = code[1:]
    code = code.replace('\r\n', '\n').replace('\r', '\n')
    old = []
    how, status, error = 'error', 1, None
    try:
        old = set_env(fields[3:])
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
        exit_now(status if how != 'error' else 1)
    about = ('', '', 0, '', '')
    if error is not None:
        about = describe(error, name)
        error = None
    return how, status, about, old


def finish(how, status, about, old):
    restore_env(old)
    flush()
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


def configure(fields):
    if fields[0]:
        os.chdir(fields[0])
    set_env(fields[2:])
    implementation = {'cpython': 'CPython'}.get(sys.implementation.name, sys.implementation.name)
    send(b'H', implementation + ' ' + sys.version.split()[0])
    return fields[1] == b'once'


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


def loop():
    once = False
    while True:
        kind, fields = receive()
        if kind == b'C':
            once = configure(fields)
        elif kind == b'M':
            preload(fields)
        elif kind == b'R':
            how, status, about, old = serve_run(fields)
            if once:
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
_signal.signal(_signal.SIGINT, on_interrupt)
