# What programs call to show things, the representations of values, and how they are sent.

PYLAB = 'matplotlib._pylab_helpers'


def display(*objs, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False, update=False, **kw):
    """Shows objects by their rich representations.

    With display_id=True, or an id, the display can be updated later, by
    update_display or the handle that is returned.
    """
    if clear:
        clear_output(wait=True)
    handle = DisplayHandle(None if display_id is True else display_id) if display_id else None
    show_all('update' if update and handle else 'display', objs, include, exclude, metadata, handle.display_id if handle else '', raw)
    return handle


def update_display(obj, *, display_id, include=None, exclude=None, metadata=None, transient=None, raw=False, **kw):
    """Replaces the displays that have the id."""
    show_all('update', (obj,), include, exclude, metadata, display_id, raw)


def clear_output(wait=False):
    """Withdraws what the run has shown and printed; with wait, once there is more."""
    show('clear wait' if wait else 'clear', {})


def figures():
    """Shows matplotlib's open figures, and closes them."""
    if modules.get(PYLAB):
        show_figures(modules[PYLAB].Gcf)


REPRS = (('_repr_html_', 'text/html'), ('_repr_markdown_', 'text/markdown'), ('_repr_latex_', 'text/latex'),
         ('_repr_svg_', 'image/svg+xml'), ('_repr_png_', 'image/png'), ('_repr_jpeg_', 'image/jpeg'),
         ('_repr_json_', 'application/json'), ('_repr_javascript_', 'application/javascript'), ('_repr_pdf_', 'application/pdf'))
PLAIN = (int, float, str, bytes, list, tuple, dict, set, frozenset, bool, complex)


def method(v, name):
    """Returns the method that v's class has for its representation."""
    if isinstance(v, type):
        return None
    try:
        f = getattr(type(v), name, None)
        return getattr(v, name) if callable(f) else None
    except Exception:
        return None


def bundle_of(v):
    """Returns v's representations and their metadata. One that fails is left out
    with a report: it does not end the program."""
    bundle, meta = {}, {}
    if type(v) not in PLAIN:
        f = method(v, '_repr_mimebundle_')
        if f:
            got = attempt(lambda: f(include=None, exclude=None))
            if isinstance(got, tuple):
                got, meta = got
            bundle.update(got or {})
        for name, mime in REPRS:
            if mime in bundle:
                continue
            f = method(v, name)
            got = attempt(f) if f else None
            if isinstance(got, tuple) and len(got) == 2:
                got, extra = got
                meta[mime] = extra
            if got is not None:
                bundle[mime] = got
        figure = modules.get('matplotlib.figure')
        if figure and 'image/png' not in bundle and isinstance(v, figure.Figure):
            bundle['image/png'] = attempt(lambda: png_of(v))
    if 'text/plain' not in bundle:
        bundle['text/plain'] = attempt(lambda: repr(v), ())
    return {k: data for k, data in bundle.items() if data is not None}, meta


def shows_itself(v):
    """Has v show itself, where its class does that, and tells whether it has."""
    if type(v) in PLAIN:
        return False
    f = method(v, '_ipython_display_')
    return bool(f and attempt(lambda: (f(),)))


def attempt(f, absent=NotImplementedError):
    """Returns what f returns, None where it fails, with a report, unless the
    class says so that it has none."""
    try:
        return f()
    except absent:
        return None
    except Exception as e:
        sys.stderr.write(report_of(e))
        return None


def png_of(figure):
    out = io.BytesIO()
    figure.savefig(out, format='png', bbox_inches='tight')
    return out.getvalue()


def is_json(mime):
    return mime == 'application/json' or mime.endswith('+json')


def is_text(mime):
    return mime.startswith('text/') or mime.endswith('+xml') or mime in ('application/javascript', 'application/xml')


def is_binary(mime):
    return (mime.startswith(('image/', 'audio/', 'video/', 'font/'))
            or mime in ('application/pdf', 'application/octet-stream', 'application/zip', 'application/gzip'))


def encoded(mime, data):
    """Returns a representation as the bytes that the host wants. This is the
    rule of the package internal/mimedata."""
    if mime == 'text/plain' and type(data) is str:
        return text(data)
    mime = mime.partition(';')[0].strip().lower()
    known = is_text(mime) or is_binary(mime)
    if is_json(mime) or not known and not isinstance(data, (str, bytes, bytearray, memoryview)):
        json = own_import('json')
        if isinstance(data, (str, bytes)):
            try:
                data = data if isinstance(data, str) else data.decode()
                json.loads(data, parse_constant=no_json)
                return text(data)
            except ValueError:
                if not isinstance(data, str):
                    raise
        return json.dumps(data, allow_nan=False).encode()
    if isinstance(data, (bytes, bytearray, memoryview)):
        if is_text(mime):
            data.decode()
        return bytes(data)
    if not isinstance(data, str):
        raise TypeError('%s data is %s, not str or bytes' % (mime, type(data).__name__))
    return text(data) if is_text(mime) else decoded(text(data), is_binary(mime))


def no_json(name):
    raise ValueError('%s is no JSON' % name)


def decoded(data, surely):
    """Returns what data is the base64 of, if it surely is that of something, or
    if that is no text; otherwise data."""
    binascii = own_import('binascii')
    a2b_base64, b2a_base64 = binascii.a2b_base64, binascii.b2a_base64
    packed = b''.join(data.split())
    try:
        out = a2b_base64(packed)
        same = b2a_base64(out, newline=False)
    except ValueError:
        out = same = b''
    if surely:
        if same.rstrip(b'=') != packed.rstrip(b'='):
            raise ValueError('it is neither bytes nor base64')
        return out
    if same == packed:
        try:
            out.decode()
        except UnicodeDecodeError:
            return out
    return data


def show(kind, bundle, meta=None, ident='', value=''):
    """Sends a bundle, in its place among what is printed."""
    flush()
    ident = text(ident)
    if len(ident) > MAX_ID:
        raise ValueError('a display id of %d bytes: at most %d are possible' % (len(ident), MAX_ID))
    fields, size = [], len(value)
    for mime, data in bundle.items():
        try:
            if len(fields) == 2 * MAX_BUNDLE:
                raise ValueError('there are more than %d representations' % MAX_BUNDLE)
            mime = mime_type(mime)
            data = encoded(mime, data)
        except Exception as e:
            sys.stderr.write('display: %.100s was dropped: %s\n' % (mime, e))
            continue
        size += len(data)
        if size > LIMIT:
            send(b'T', state.seq, 'result' if kind == 'result' else 'display', size)
            return
        fields += [mime, data]
    if kind in ('display', 'update', 'result') and not fields:
        return
    fields = [kind, ident, metadata_of(meta), value] + fields
    if kind == 'result':
        (send_soon if nothing_follows() else send)(b'D', state.seq, 0, *fields)
    else:
        exchange(*fields)


def exchange(*fields):
    """Sends a show of the run in progress, and waits until the host has put it in its
    place. Outside of a run, in threads of earlier ones and in forked processes it does
    not wait."""
    if occupied():
        raise RuntimeError('nothing can be shown here: this thread is in the midst of a call, or of another display')
    with hold:
        late = is_late()
        if late or not state.busy or getpid() != pid:
            send(b'D', '' if late else state.seq, 0, *fields)
        else:
            acknowledged(b'D', state.seq, *fields)


def nothing_follows():
    """Tells whether nothing of the program's runs between its value and the end
    of its run, so that one message can tell both."""
    return (not state.once and not state.forked and sys.stdout is stdout and sys.stderr is stderr
            and PYLAB not in modules)


def mime_type(name):
    if not isinstance(name, str) or not name:
        raise TypeError('a MIME type is a str')
    if len(text(name)) > MAX_MIME:
        raise ValueError('a MIME type of more than %d bytes' % MAX_MIME)
    return name


def metadata_of(meta):
    """Returns a show's metadata as JSON, b'' for none."""
    if not meta:
        return b''
    try:
        about = encoded('application/json', meta)
        if len(about) > MAX_METADATA:
            raise ValueError('it has %d bytes; at most %d are possible' % (len(about), MAX_METADATA))
        return about
    except Exception as e:
        sys.stderr.write('display: the metadata was dropped: %s\n' % e)
        return b''


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


def show_all(kind, objs, include, exclude, metadata, ident, raw):
    for obj in objs:
        if not raw and kind == 'display' and shows_itself(obj):
            continue
        bundle, meta = (dict(obj), {}) if raw else bundle_of(obj)
        meta = {**meta, **(metadata or {})}
        bundle = {k: v for k, v in bundle.items() if (not include or k in include) and (not exclude or k not in exclude)}
        show(kind, bundle, meta, ident)


def show_figures(gcf):
    """Shows matplotlib's open figures, and closes them."""
    for manager in gcf.get_all_fig_managers():
        figure = manager.canvas.figure
        if not shows_itself(figure):
            bundle = bundle_of(figure)
            gcf.destroy(manager.num)
            show('display', *bundle)
        else:
            gcf.destroy(manager.num)


def close_shown(value):
    """Closes a figure that is shown as a program's value."""
    figure = modules.get('matplotlib.figure')
    if figure and isinstance(value, figure.Figure) and modules.get('matplotlib.pyplot'):
        modules['matplotlib.pyplot'].close(value)


def drop_figures():
    """Closes matplotlib's open figures, and returns how many there were."""
    gcf = modules[PYLAB].Gcf
    n = len(gcf.get_all_fig_managers())
    for manager in gcf.get_all_fig_managers():
        try:
            gcf.destroy(manager.num)
        except BaseException:
            pass
    gcf.figs.clear()
    return n
