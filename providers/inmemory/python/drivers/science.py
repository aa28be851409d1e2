# What the small pack has as C code: the module _toolcell, over the one that carries bytes
# to the host and back; and the packages of the science pack.


def make_door():
    import sys, _host
    call = _host.call
    door = sys.modules['_toolcell'] = type(sys)('_toolcell')
    door.request = lambda data: call(data) or None
    door.server = None

    def serve(function):
        door.server = function
        call(b'serve ' + words(id(function)))

    door.serve = serve
    door.immortalize = immortalize
    door.load = load
    door.differ = differ


def words(*numbers):
    from array import array
    return array('I', numbers).tobytes()


def read(*addresses):
    """Returns words of the memory."""
    import _host
    from array import array
    return array('I', _host.call(b'read ' + words(*addresses)))


def write(*pairs):
    """Writes words to the memory: an address, a value and so on."""
    import _host
    _host.call(b'write ' + words(*pairs))


def swap_names(a, b):
    """Lets two types exchange the names that they show."""
    name = 12  # where types have it
    one, two = read(id(a) + name, id(b) + name)
    write(id(a) + name, two, id(b) + name, one)


# Where a type's table of operations on numbers has addition, subtraction, multiplication,
# remainder, divmod, negation, plus, abs, inversion, shifts, and, xor, or and floor division.
# Power, truth and conversions stay each type's own.
OPERATORS = 0, 4, 8, 12, 16, 24, 28, 32, 40, 44, 48, 52, 56, 60, 116


def copy_operators(a, b):
    """Gives a type the operators of another."""
    table = 48  # where types have the address of theirs
    source, to = read(id(a) + table, id(b) + table)
    values = read(*[source + at for at in OPERATORS])
    for at, value in zip(OPERATORS, values):
        write(to + at, value)


def immortalize(objects):
    """Makes objects immortal, with what they lead to: who counts no references to them
    writes nothing to their pages, so that copies of the memory share these. Objects begin
    with their count."""
    import gc
    code = type(immortalize.__code__)
    for i in range(0, len(objects), 1000):
        found, todo = [], objects[i:i + 1000]
        while todo:
            o = todo.pop()
            found.append(id(o))
            if type(o) is code:
                todo += o.co_consts, o.co_names, o.co_filename, o.co_name, o.co_qualname, o.co_linetable, o.co_exceptiontable
            for r in gc.get_referents(o):
                if gc.is_tracked(r) or type(r) not in (tuple, dict, code):
                    found.append(id(r))
                else:
                    todo.append(r)
        write(*[v for at, count in zip(found, read(*found)) if count < 1 << 30 for v in (at, 5 << 28)])


def differ():
    """Gives a copy random numbers of its own."""
    import numpy
    numpy.random.seed()


def load():
    """Imports the packages, and lets them prepare what they do at first use."""
    import numpy
    widen_names(numpy)
    widen_random(numpy)
    import pandas
    widen_pandas(numpy)
    for name in PACKAGES:
        __import__(name)
    widen_scipy(numpy)
    import io, gc, matplotlib, matplotlib.pyplot as plt
    figure = plt.figure()
    figure.gca().plot([1, 2])
    figure.gca().set_title('$x^2$ text')
    figure.savefig(io.BytesIO(), format='png')
    plt.close('all')
    frame = pandas.DataFrame({'k': list('ab'), 'v': [1, 2]})
    frame.groupby('k').v.sum()
    frame._repr_html_(), repr(frame)
    pandas.read_csv(io.StringIO('a\n1'))
    # Fonts hold open files, which an image cannot.
    matplotlib.font_manager._get_font.cache_clear()
    matplotlib.mathtext.MathTextParser._parse_cached.cache_clear()
    del figure
    gc.collect()


def widen_names(numpy):
    """Makes int64 the type that the names of C's long stand for, and C's int that of
    int32: long is left to indices. A buffer's long has 32 bits all the same."""
    long, other = numpy.int32, numpy.intc
    names = {'int_': numpy.int64, 'uint': numpy.uint64, 'int32': other}
    old = {name: getattr(numpy, name) for name in names}
    types = numpy._core._type_aliases.sctypeDict
    types.update(names, int=numpy.int64, long=numpy.int64, ulong=numpy.uint64)
    for name in names:
        replace(name, old[name], names[name])
    mapper = numpy.lib._iotools.StringConverter._mapper
    mapper[:] = [entry for entry in mapper if entry[0] is not old['int_']]
    plain = numpy._core.arrayprint._typelessdata
    plain[plain.index(old['int_'])] = numpy.int64
    numpy.dtypes.Int32DType = type(numpy.dtype(other))
    swap_names(long, other)
    # Numbers out of index arrays are computed with as such arrays are: with 64 bits.
    copy_operators(numpy.generic, long)
    native = numpy._core._internal._pep3118_native_map
    native['l'], native['L'] = 'i', 'I'
    widen_append(numpy)
    for name in 'c_einsum', 'dot', 'vdot', 'inner', 'correlate', 'correlate2':
        plain = getattr(numpy._core.multiarray, name)
        replace(name, plain, wide_inputs(numpy, plain))
    where = numpy._core.multiarray.where
    replace('where', where, or_wide(where, wide_inputs(numpy, where)))


def replace(name, old, new):
    """Gives numpy's modules another value for a name."""
    import sys
    for key, module in list(sys.modules.items()):
        if key.partition('.')[0] == 'numpy' and vars(module).get(name) is old:
            setattr(module, name, new)


def are_indices(v):
    """Tells indices from int32, which is equal."""
    return getattr(getattr(v, 'dtype', None), 'char', '') == 'l'


def wide_inputs(numpy, f):
    """Returns f, which gets arrays of indices as such of 64 bits."""
    kinds = numpy.ndarray, numpy.intp

    def wide(*args, **kw):
        return f(*[a.astype(numpy.int64) if type(a) in kinds and are_indices(a) else a for a in args], **kw)

    return named(wide, f)


def or_wide(f, wide):
    """Returns f, or wide where a Python int does not fit an index."""
    def either(*args, **kw):
        try:
            return f(*args, **kw)
        except OverflowError:
            return wide(*args, **kw)

    return named(either, f)


def named(new, f):
    new.__name__, new.__qualname__, new.__module__, new.__doc__ = f.__name__, f.__name__, 'numpy', f.__doc__
    return new


def widen_append(numpy):
    """What is appended to indices becomes an index."""
    impl = numpy.lib._function_base_impl
    plain = impl.append

    def append(arr, values, axis=None):
        if are_indices(arr) and not hasattr(values, 'dtype'):
            values = numpy.asarray(values)
            if values.dtype == numpy.int64 and (abs(values) < 2**31).all():
                values = values.astype(numpy.intp)
        return plain(arr, values, axis)

    append.__doc__ = plain.__doc__
    impl.append = numpy.append = append


def widen_random(numpy):
    """Lets random integers have 64 bits also where they are C's long within."""
    wide = numpy.int64

    def widened(f):
        def g(self, *args, **kw):
            v = f(self, *args, **kw)
            return v.astype(wide) if are_indices(v) else v

        g.__name__, g.__doc__ = f.__name__, f.__doc__
        return g

    def subclass(base):
        methods = {name: widened(getattr(base, name)) for name in ('permutation', 'choice', 'binomial', 'multinomial') if hasattr(base, name)}
        return type(base.__name__, (base,), {'__module__': base.__module__, '__doc__': base.__doc__, **methods})

    random = numpy.random
    plain_rng = random.default_rng
    Generator = random.Generator = random._generator.Generator = subclass(random.Generator)
    RandomState = subclass(random.RandomState)

    def tomaxint(self, size=None):
        v = self.randint(0, 2**64, size, dtype='u8') >> numpy.uint64(1)
        return int(v) if size is None else v.astype(wide)

    RandomState.tomaxint = tomaxint

    def default_rng(seed=None):
        if isinstance(seed, Generator):
            return seed
        g = plain_rng(seed)
        return g if isinstance(seed, type(g)) and type(g) is not Generator.__base__ else Generator(g.bit_generator)

    default_rng.__doc__ = plain_rng.__doc__
    random.default_rng = random._generator.default_rng = default_rng
    random._pickle.Generator, random._pickle.RandomState = Generator, RandomState # what copies are made of
    own = RandomState(random.mtrand._rand._bit_generator)
    random.RandomState = random.mtrand.RandomState = RandomState
    random.mtrand._rand = own
    for name in dir(random):
        bound = getattr(random, name)
        if getattr(bound, '__self__', None).__class__ is RandomState.__base__ and hasattr(own, name):
            setattr(random, name, getattr(own, name))
            setattr(random.mtrand, name, getattr(own, name))


def widen_pandas(numpy):
    """Keeps the places of blocks indices."""
    from pandas.core.internals.managers import BlockManager as Manager
    plain = Manager._insert_update_blklocs_and_blknos

    def insert(self, loc):
        plain(self, loc)
        self._blklocs = self._blklocs.astype(numpy.intp, copy=False)
        self._blknos = self._blknos.astype(numpy.intp, copy=False)

    Manager._insert_update_blklocs_and_blknos = insert

    class Indices(numpy.ndarray):
        def __rmul__(self, by):
            return numpy.multiply(self, by).astype(numpy.intp)

    def ones(*args, **kw):
        v = numpy.ones(*args, **kw)
        return v.view(Indices) if are_indices(v) else v

    # Its -1 * np.ones(n, np.intp) is to have indices.
    import pandas._libs.groupby as groups
    groups.np = stand_in(numpy, ones=ones)
    from pandas.core.reshape import merge
    merge._factorizers[numpy.intp] = merge._factorizers[numpy.intc]


def stand_in(numpy, **changes):
    """Returns numpy as one module is to see it."""
    class Numpy(type(numpy)):
        def __getattr__(self, name):
            return getattr(numpy, name)

    other = Numpy('numpy')
    vars(other).update(changes)
    return other


COMPILED = '''optimize._lbfgsb_py optimize._slsqp_py integrate._ode interpolate._fitpack_impl interpolate._fitpack2
    sparse.linalg._eigen.arpack.arpack sparse.linalg._dsolve.linsolve special._lambertw special._spherical_bessel'''.split()


def widen_scipy(numpy):
    """Gives long to compiled code that wants it for int32, and lets functions take
    integers of 64 bits that have loops for long alone."""
    import importlib
    other = stand_in(numpy, int32=numpy.intp, dtype=lambda kind: numpy.dtype(numpy.intp if kind == 'long' else kind))
    for name in COMPILED:
        module = importlib.import_module('scipy.' + name)
        if hasattr(module, 'np'):
            module.np = other
    import scipy.special as special
    for name, inputs in ('eval_hermite', 2), ('eval_hermitenorm', 2):
        wide = with_long(numpy, getattr(special, name), inputs)
        setattr(special, name, wide)
        setattr(special._ufuncs, name, wide)  # for polynomials, such as hermite(3)
    from scipy.linalg import _decomp_qz, _decomp_schur, _matfuncs
    for module in _decomp_qz, _decomp_schur:
        module._double_precision.append('q')
    _decomp_schur._array_kind['q'] = 0
    _decomp_schur._array_precision['q'] = _matfuncs._array_precision['q'] = 1
    from scipy.signal import _peak_finding
    as_peaks = _peak_finding._arg_peaks_as_expected

    def peaks(value):
        value = numpy.asarray(value)
        return as_peaks(value.astype(numpy.intp) if value.dtype == numpy.int64 else value)

    _peak_finding._arg_peaks_as_expected = peaks


def with_long(numpy, plain, inputs):
    kinds = numpy.intp, *[numpy.float64] * inputs

    def f(n, *args, **kw):
        if getattr(numpy.asarray(n), 'dtype').kind in 'iu' and 'signature' not in kw and 'dtype' not in kw:
            if numpy.any(numpy.abs(n) >= 2**31):
                raise OverflowError('%s: the order has more than 32 bits' % plain.__name__)
            kw['signature'] = kinds
        return plain(n, *args, **kw)

    f.__name__, f.__doc__ = plain.__name__, plain.__doc__
    return f


PACKAGES = '''scipy.stats scipy.optimize scipy.linalg scipy.special scipy.sparse scipy.interpolate scipy.integrate scipy.signal
    sklearn.linear_model sklearn.ensemble sklearn.cluster sklearn.preprocessing sklearn.model_selection sklearn.metrics
    sklearn.decomposition sklearn.neighbors sklearn.pipeline sklearn.datasets'''.split()


make_door()
