# Imports that are completed or stood in for.

ABSENT = 'IPython', 'IPython.display'


class Finder:
    """A function as what finds modules."""

    def __init__(self, find):
        self.find_spec = find


def find_completed(name, path=None, target=None):
    """Completes modules as they are imported: linecache gets the sources of
    the programs, matplotlib a backend that shows, IPython.display ours."""
    return completed(name) if name in COMPLETE else None


def find_absent(name, path=None, target=None):
    """Stands in for IPython.display where IPython is not installed: programs
    written for notebooks import display, HTML, Image and their like from it."""
    return absent(name) if name in ABSENT else None


def find_missing(name, path=None, target=None):
    """Has the host install what the program's own imports do not find, where
    the host does that, which is a function of its."""
    return None if path is not None else installed(name)


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
        backend = type(sys)('toolcell_figures', 'Shows figures through the host.')
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


def with_class_files(loader, module):
    """Lets inspect find the classes of programs, which have no file."""
    loader.exec_module(module)
    plain = module.getfile

    def getfile(object):
        if isinstance(object, type) and object.__module__ == '__main__':
            for name in reversed(sources):
                if any(l.lstrip().startswith('class ' + object.__name__) for l in sources[name][2]):
                    return name
        return plain(object)

    module.getfile = getfile


def with_shown_figures(loader, module):
    """Shows plotly's figures as in a notebook, also without what that needs there."""
    loader.exec_module(module)
    figure = module.BaseFigure

    def bundle(self):
        data = own_import('json').loads(self.to_json(validate=False))
        return {'application/vnd.plotly.v1+json': data, 'text/plain': repr(self)}

    def own():
        return environ.get('PLOTLY_RENDERER') == PLOTLY

    plain_show, plain_bundle = figure.show, figure._repr_mimebundle_
    figure.show = lambda self, *args, **kw: display(bundle(self), raw=True) if own() and not args and 'renderer' not in kw else plain_show(self, *args, **kw)
    figure._repr_mimebundle_ = lambda self, *args, **kw: bundle(self) if own() else plain_bundle(self, *args, **kw)
    figure._ipython_display_ = None


def with_contexts(loader, module):
    loader.exec_module(module)
    if not state.once:
        carry(module)


def with_loop(loader, module):
    """Lets programs of a context use its loop where they await nothing, as in a notebook:
    their tasks run between the runs. The loop does not run meanwhile, so that asyncio.run
    works too."""
    loader.exec_module(module)
    plain = module.get_running_loop

    def get_running_loop():
        frame = sys._getframe(1)
        by_program = frame.f_globals is space or frame.f_globals.get('__name__') == 'asyncio.tasks' and frame.f_code.co_name == 'create_task'
        if by_program and not state.once and get_ident() == state.thread and module._get_running_loop() is None:
            return open_loop()
        return plain()

    module.get_running_loop = get_running_loop


COMPLETE = {'asyncio.events': with_loop, 'inspect': with_class_files, 'threading': with_contexts, 'concurrent.futures.thread': with_contexts,
         'plotly.basedatatypes': with_shown_figures, 'linecache': with_sources, 'matplotlib': with_backend, 'IPython.core.display_functions': with_display,
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
        if isinstance(data, str) and name in ('Image', 'SVG') and not data.lstrip().startswith('<') and os.path.exists(data):
            data, filename = None, data
        if data is None:
            with open(filename, 'rb') as f:
                data = f.read()
            if not is_binary(mime):
                data = data.decode()
        if self.mime == 'image/png' and bytes(data[:2] if not isinstance(data, str) else b'') == b'\xff\xd8':
            self.mime = 'image/jpeg'
        self.data, self.metadata = data, metadata or {}

    def bundle(self, include=None, exclude=None):
        data = '$\\displaystyle %s$' % self.data.strip('$') if name == 'Math' else self.data
        out = {self.mime: data}
        if self.mime != 'text/plain':
            out['text/plain'] = '<IPython.core.display.%s object>' % name
        return out, ({self.mime: self.metadata} if self.metadata else {})

    return type(name, (), {'__init__': __init__, '_repr_mimebundle_': bundle, '__module__': 'IPython.core.display'})


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


INSTALL, PLOTLY = 'install_packages', 'plotly_mimetype'


class Loader:
    """Loads a module as then(loader, module) does."""

    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.then(self.loader, module)
