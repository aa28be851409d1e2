"""What could stand at the cursor. The driver runs this when it is first asked;
space is the program's namespace. Nothing that a program defined is called: names
are looked up by inspect.getattr_static. Objects of installed packages are asked by
dir, so that the columns of a table are listed."""
import sys

inspect = own_import('inspect')

KEYWORDS = '''False None True and as assert async await break class continue def del elif else except finally for from
    global if import in is lambda nonlocal not or pass raise return try while with yield'''.split()
MOST = 1000
ABSENT = object()

dict_of_type, mro = type.__dict__['__dict__'].__get__, type.__dict__['__mro__'].__get__
get_type, getset, member = type, type(type.__dict__['__dict__']), type(type.__dict__['__dictoffset__'])
plain = {type, type(lambda: 0), type(len), type(str.join), type(str.__len__), type(int.__dict__['from_bytes'])}


def is_type(v):
    return type in mro(get_type(v))


def installed(v):
    """Reports whether no class of an object is the program's."""
    if get_type(v) is type(sys):
        return False
    modules = [dict_of_type(c)['__module__'] for c in mro(get_type(v)) if '__module__' in dict_of_type(c)]
    return all(get_type(name) is str and name in sys.modules and name not in ('__main__', space.get('__name__')) for name in modules)


def members(v):
    if not is_type(v) and installed(v):
        try:
            return dir(v)
        except Exception:
            pass  # a package may have broken it
    names = [k for c in (*(mro(v) if is_type(v) else ()), *mro(get_type(v))) for k in dict_of_type(c)]
    own = ABSENT if is_type(v) else inspect.getattr_static(v, '__dict__', ABSENT)
    return names + list(own.__get__(v) if get_type(own) in (getset, member) else ())


def attribute(v, name):
    """Returns an attribute, ABSENT where only a call would say what it is."""
    found = inspect.getattr_static(v, name, ABSENT)
    if found is ABSENT:
        return getattr(v, name, ABSENT) if not is_type(v) and installed(v) else ABSENT  # as a column of a table
    kind = get_type(found)
    if kind is member:
        return found.__get__(v)
    if kind in (staticmethod, classmethod):
        return found.__func__
    known = kind in plain or is_type(found) or not any('__get__' in dict_of_type(c) for c in mro(kind))
    return found if known else ABSENT


def split(text):
    """Returns the dotted path before the cursor, and the word at its end."""
    i = len(text)
    while i and (text[i - 1] == '.' or text[i - 1] == '_' or text[i - 1].isalnum()):
        i -= 1
    path = text[i:].split('.')
    before = text[:i].rstrip()
    if path[0] == '' and len(path) > 1 or before[-1:] in (')', ']', '}', '"', "'") and path[0] == '':
        return None, path[-1]
    return path[:-1], path[-1]


def wanted(names, word, after_dot):
    hidden = '' if word else '_'
    if after_dot and word == '_':
        hidden = '__'
    found = {k for k in names if get_type(k) is str and k.startswith(word) and k.isidentifier() and not (hidden and k.startswith(hidden))}
    return sorted(found, key=lambda k: (k.startswith('_'), k))


def complete(code, cursor):
    path, word = split(code[:cursor].decode())
    names = []
    if path:
        v = space.get(path[0], __builtins__.get(path[0], ABSENT))
        for name in path[1:]:
            v = v if v is ABSENT else attribute(v, name)
        names = () if v is ABSENT else members(v)
    elif path is not None:
        names = [*KEYWORDS, *space, *__builtins__]
    return cursor - len(word.encode()), cursor, '\n'.join(wanted(names, word, bool(path))[:MOST])
