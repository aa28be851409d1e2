# What programs see of the host's functions: tools.name(**args) from any thread,
# and await tools.aio.name(**args) in asyncio.

import builtins
import sys
from sys import _getframe


class ToolError(Exception):
    """A function of the host that failed or could not be called; name is the
    function's, message says why."""

    __module__ = 'builtins'

    def __init__(self, name, message=''):
        super().__init__(name, message)
        self.name, self.message = name, message

    def __str__(self):
        return '%s: %s' % (self.name, self.message)


class Tools:
    """The functions of the host, by name; tools.aio has them for asyncio."""

    def __getattr__(self, name):
        names = ', '.join(sorted(k for k in self.__dict__ if k != 'aio' and k not in unlisted))
        raise AttributeError('there is no function %s; there is: %s' % (name, names or 'none'))


tools, aio = Tools(), Tools()
offered = []  # tools and tools.aio, with what each has
unlisted = set()  # names of those that only say why they cannot be called


def renew():
    """Undoes what an earlier program did to the functions. A module of their name
    may have been written since."""
    if sys.modules.get('tools') is tools:
        del sys.modules['tools']
    for of, members in offered:
        of.__dict__.update(members)
        for name in [name for name in of.__dict__ if name not in members]:
            of.__dict__.pop(name, None)


def offer(names):
    """Makes the functions known, in place of those that were before. Behind an empty
    name stand those that are not listed."""
    end = names.index('') if '' in names else len(names)
    unlisted.clear()
    unlisted.update(names[end + 1:])
    names = [name for name in names if name]
    offered[:] = [(of, {name: stub(name) for name in names}) for of, stub in ((tools, sync_stub), (aio, async_stub))]
    offered[0][1]['aio'] = aio
    renew()
    for name, v in (('tools', tools), ('ToolError', ToolError)):
        if names:
            setattr(builtins, name, v)
        elif getattr(builtins, name, None) is v:
            delattr(builtins, name)


class AsModule:
    """Has import tools give the functions, where no module has that name."""

    def find_spec(self, name, path=None, target=None):
        if name != 'tools' or getattr(builtins, name, None) is not tools:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        sys.modules[module.__name__] = tools


# Behind what finds modules, and before what installs them.
sys.meta_path.insert(1 + max(i for i, f in enumerate(sys.meta_path) if i == 0 or getattr(f, '__name__', '') == 'PathFinder'), AsModule())


def sync_stub(name):
    def stub(*args, **kwargs):
        __tracebackhide__ = True
        if is_awaited(_getframe(1)):
            raise TypeError('tools.%s(...) returns the result itself; to await it, write await tools.aio.%s(...)' % (name, name))
        return call(name, args, kwargs)

    stub.__name__, stub.__qualname__, stub.__module__ = name, 'tools.' + name, 'builtins'
    return stub


def async_stub(name):
    async def stub(*args, **kwargs):
        __tracebackhide__ = True
        return await call_aio(name, args, kwargs)

    stub.__name__, stub.__qualname__, stub.__module__ = name, 'tools.aio.' + name, 'builtins'
    return stub


AWAITING = 'asyncio.wait_for(', 'asyncio.gather(', 'asyncio.shield(', 'asyncio.create_task(', 'asyncio.ensure_future('


def is_awaited(frame):
    """Tells whether a coroutine is about to await what it calls here, which it
    would learn only once the call is over. Positions are known since Python 3.11;
    asyncio's own error is explained by the host."""
    code = frame.f_code
    if not code.co_flags & 0x80 or not hasattr(code, 'co_positions'):
        return False
    from itertools import islice
    line, _, column, _ = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    if line is None or column is None:
        return False
    before = line_of(code.co_filename, line).encode('utf-8', 'replace')[:column].decode('utf-8', 'replace').lstrip()
    word = before.rstrip()
    if word.endswith('await') and word != before:
        return len(word) == 5 or not (word[-6].isalnum() or word[-6] in '_.')
    return word.endswith(AWAITING)


class Coder:
    """What makes JSON and reads it. To make these anew, as json's own functions
    do, takes longer than to use them."""

    encode = decode = None


def coder():
    if Coder.decode is None:
        import json
        Coder.encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
        Coder.decode = json.JSONDecoder().decode
    return Coder


def arguments(name, args, kwargs):
    """Returns the arguments of a call as JSON, in bytes."""
    __tracebackhide__ = True
    if args:
        raise TypeError('tools.%s takes its arguments by name' % name)
    data = coder().encode(kwargs).encode('utf-8', 'backslashreplace')
    if len(data) > MAX_ARGS:
        raise ToolError(name, 'the arguments have %d bytes; %d are the limit' % (len(data), MAX_ARGS))
    return data


def outcome(name, ok, data):
    """Returns the result of a call, or raises its error; data is the result as
    JSON, or the message."""
    __tracebackhide__ = True
    if not ok:
        raise ToolError(name, data if isinstance(data, str) else data.decode('utf-8', 'replace'))
    return coder().decode(data if isinstance(data, str) else data.decode())
