# Which of several runs what goes on in a thread belongs to: a thread to the run in
# which it was started, or, where a thread started it, to what that belongs to; what
# a pool of threads is given to do, to the run that gave it. A thread that C code
# started by itself is nobody's.
#
# The source around this defines present(), what is done here and now belongs to, and
# enter(mark), which has what this thread does belong to the mark as far as contexts
# go, and returns what undoes that. A mark of None says nothing.

import sys
import _thread


class Belongs(_thread._local):
    """What a thread belongs to. It ends with the thread, whose number others get."""

    to = None


belongs = Belongs()


class Start:
    """What a new thread does."""

    def __init__(self, function):
        self.function, self.mark = function, present()

    def __call__(self, /, *args, **kwargs):
        if self.mark is not None:
            belongs.to = self.mark
            enter(self.mark)
        try:
            self.function(*args, **kwargs)
        except BaseException as e:
            e.__traceback__ = e.__traceback__.tb_next  # without this frame
            raise

    def __repr__(self):
        return repr(self.function)


def starting(plain):
    def start(*args, **kwargs):
        if 'function' in kwargs:
            args = kwargs.pop('function'), *args
        if args and callable(args[0]):
            args = Start(args[0]), *args[1:]
        return plain(*args, **kwargs)

    start.__name__ = start.__qualname__ = plain.__name__
    start.__doc__, start.__module__ = plain.__doc__, plain.__module__
    return start


def note_threads():
    """Has threads know what they belong to, whatever starts them, and pools what
    they do belongs to."""
    threading = sys.modules.get('threading')
    for name in ('start_new_thread', 'start_new', 'start_joinable_thread'):
        plain = getattr(_thread, name, None)
        if plain is not None:
            setattr(_thread, name, starting(plain))
            if getattr(threading, '_' + name, None) is plain:
                setattr(threading, '_' + name, getattr(_thread, name))
    sys.meta_path.insert(0, Pools())
    for name in POOLS:
        note_pools(sys.modules.get(name))


def work_as(mark, work, *args, **kwargs):
    """Does what belongs to the mark."""
    if mark is None:
        return work(*args, **kwargs)
    before, belongs.to = belongs.to, mark
    undo = enter(mark)
    try:
        return work(*args, **kwargs)
    finally:
        undo()
        belongs.to = before


class Work:
    """A function that is given to a pool."""

    def __init__(self, function):
        self.function, self.mark = function, present()

    def __call__(self, /, *args, **kwargs):
        __tracebackhide__ = True
        return work_as(self.mark, self.function, *args, **kwargs)

    def __repr__(self):
        return repr(self.function)


def note_objects(kind, *names):
    """Has what the methods of a class do belong to what made the object."""
    make = kind.__init__

    def __init__(self, *args, **kwargs):
        self.toolcell_mark = present()
        make(self, *args, **kwargs)

    kind.__init__ = __init__
    note_methods(kind, *names)


def note_methods(kind, *names):
    for name in names:
        setattr(kind, name, working(getattr(kind, name)))


def working(plain):
    def work(self, *args, **kwargs):
        return work_as(getattr(self, 'toolcell_mark', None), plain, self, *args, **kwargs)

    return work


def giving(plain):
    def give(self, func, *args, **kwargs):
        return plain(self, Work(func), *args, **kwargs)

    give.__name__, give.__qualname__, give.__doc__ = plain.__name__, plain.__qualname__, plain.__doc__
    return give


def note_executor(module):
    """Notes the work of concurrent.futures.thread, which asyncio's loops use too."""
    note_objects(module._WorkItem, 'run')


def note_pool(module):
    """Notes the work of multiprocessing.pool's threads, and what is called back by
    one of a pool's own, which waits for results."""
    for name in ('apply_async', '_map_async', 'imap', 'imap_unordered'):
        setattr(module.ThreadPool, name, giving(getattr(module.ThreadPool, name)))
    note_objects(module.ApplyResult, '_set')
    note_methods(module.MapResult, '_set')


POOLS = {'concurrent.futures.thread': note_executor, 'multiprocessing.pool': note_pool}


class Pools:
    """Notes the work of pools as their modules are imported."""

    def find_spec(self, name, path=None, target=None):
        if name not in POOLS:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, 'find_spec', None)
            spec = find and find(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = Loader(spec.loader, note_loaded)
                return spec
        return None


def note_loaded(loader, module):
    loader.exec_module(module)
    note_pools(module)


def note_pools(module):
    try:
        POOLS[module.__name__](module)
    except AttributeError:
        pass  # it is not there, or another than Python's own


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
