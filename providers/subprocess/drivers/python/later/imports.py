# How imports are given a hand. This follows display.py in one source.

finding = set()  # threads that look for a module to complete


def completed(name):
    """Returns the spec of a module that is completed when it has been loaded."""
    if get_ident() in finding:
        return None
    finding.add(get_ident())
    try:
        from importlib.util import find_spec
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    finally:
        finding.discard(get_ident())
    if spec is None or spec.loader is None:
        return None
    spec.loader = Loader(spec.loader, COMPLETE[name])
    return spec


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


COMPLETE = {'linecache': with_sources, 'matplotlib': with_backend, 'IPython.core.display_functions': with_display,
         'IPython.display': with_display}


def absent(name):
    from importlib.machinery import ModuleSpec
    return ModuleSpec(name, StandIn(), is_package=name == 'IPython')


class StandIn:
    """Makes modules in place of IPython's."""

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
            if not is_binary(mime):
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


def installed(name):
    """Has the host install a module that the program lacks, and returns its spec."""
    if name[:1] == '_' or not installs() or name in getattr(sys, 'stdlib_module_names', ()) or not of_program():
        return None
    try:
        install(modules=[name])
    except ToolError as e:
        raise ModuleNotFoundError("No module named '%s': %s" % (name, e.message), name=name) from None
    from importlib.machinery import PathFinder
    return PathFinder.find_spec(name)


def installs():
    return state.busy and getpid() == pid and INSTALL in tools.__dict__


def of_program():
    """Tells whether the import that is going on is the program's own, and not a
    library's, which may well go without."""
    frame = sys._getframe(2)
    machinery = '<frozen importlib._bootstrap', OWN
    while frame and frame.f_code.co_filename.startswith(machinery):
        frame = frame.f_back
    if frame and frame.f_code.co_name == 'import_module' and frame.f_globals.get('__name__') == 'importlib':
        frame = frame.f_back
    if frame is None:
        return False
    name = frame.f_code.co_filename
    return name in sources or name.startswith(os.getcwd() + '/') and '/site-packages/' not in name


def install(**wanted):
    """Has packages installed, and makes them what can be imported, behind what
    there is."""
    got = call(INSTALL, (), wanted)
    import importlib, site
    if got['path'] not in sys.path:
        site.addsitedir(got['path'])
        importlib.invalidate_caches()
        if got['installed']:
            sys.stderr.write('toolcell: installed %s\n' % ', '.join(got['installed']))


def pip_install(line):
    """Does what the line %pip install asks for."""
    wanted = []
    for word in line.replace('"', ' ').replace("'", ' ').split():
        if word.startswith('-'):
            if word not in ('-q', '--quiet', '-U', '--upgrade', '--user', '-y'):
                raise ToolError(INSTALL, '%%pip install takes names of packages here, and no %s' % word)
        else:
            wanted.append(word)
    from importlib import metadata
    for word in list(wanted):
        try:
            there = metadata.version(word)
        except Exception:
            continue  # it has a version too, or is not there
        sys.stderr.write('toolcell: %s %s is there\n' % (word, there))
        wanted.remove(word)
    if wanted or not line.strip():
        install(packages=wanted)


def with_pip(code):
    """Returns the code with calls in place of the lines that install, None where
    there are none."""
    lines = code.split('\n')
    for n, line in enumerate(lines):
        words = line.split()
        if words[:1] in (['%'], ['!']):
            words[:2] = [''.join(words[:2])]
        if words[:1] in (['!python'], ['!python3'], ['%python']) and words[1:2] == ['-m']:
            words[:3] = ['!' + ''.join(words[2:3])]
        if words[:2] in (['%pip', 'install'], ['!pip', 'install'], ['!pip3', 'install'], ['%pip3', 'install']):
            indent = line[:len(line) - len(line.lstrip())]
            lines[n] = '%s__toolcell_pip__(%r)' % (indent, ' '.join(words[2:]))
    new = '\n'.join(lines)
    if new == code:
        return None
    builtins.__toolcell_pip__ = pip_install
    return new


INSTALL = 'install_packages'
if not state.once:
    note_threads()
