"""What could stand at the cursor. The driver runs this when it is first asked;
space is the program's namespace. Nothing that a program defined is called: names
are looked up in dictionaries, as inspect.getattr_static does. Objects of installed
packages are asked by dir, so that the columns of a table are listed."""
import sys

KEYWORDS = '''False None True and as assert async await break class continue def del elif else except finally for from
    global if import in is lambda nonlocal not or pass raise return try while with yield'''.split()
MOST = 1000

dict_of_type, mro = type.__dict__['__dict__'].__get__, type.__dict__['__mro__'].__get__
get_items, get_type = dict.items, type
getset, member = type(type.__dict__['__dict__']), type(type.__dict__['__dictoffset__'])
function, builtin = type(lambda: 0), type(len)
plain = {type, function, builtin, type(str.join), type(str.__len__), type(int.__dict__['from_bytes'])}


def is_type(v):
    return type in mro(get_type(v))


def names_of(d):
    try:
        return [k for k in dict.keys(d) if get_type(k) is str]
    except RuntimeError:
        return []  # another thread changes it


def find(d, name):
    for k, v in get_items(d):
        if get_type(k) is str and k == name:
            return True, v
    return False, None


def class_names(c):
    return [k for k in dict_of_type(c) if get_type(k) is str]


def in_classes(classes, name):
    for c in classes:
        d = dict_of_type(c)
        if name in class_names(c):
            return True, d[name]
    return False, None


def own(v):
    """Returns the dictionary of an object, if it has one that is no property."""
    for c in mro(get_type(v)):
        d = dict_of_type(c)
        if '__dict__' in d:
            found = d['__dict__']
            if get_type(found) not in (getset, member):
                return {}
            d = found.__get__(v)
            return d if isinstance(d, dict) else {}
    return {}


def installed(v):
    """Reports whether no class of an object is the program's."""
    if get_type(v) is type(sys):
        return False
    modules = [in_classes([c], '__module__') for c in mro(get_type(v))]
    return all(get_type(name) is str and name in sys.modules and name not in ('__main__', space.get('__name__')) for there, name in modules if there)


def listed(v):
    """Returns what dir lists, which a package may have made slow or broken."""
    try:
        return [k for k in dir(v) if get_type(k) is str] if installed(v) else []
    except Exception:
        return []


def members(v):
    if not is_type(v) and (names := listed(v)):
        return names
    names = [k for c in mro(get_type(v)) for k in class_names(c)]
    if is_type(v):
        return [k for c in mro(v) for k in class_names(c)] + names
    return names_of(own(v)) + names


def defines(v, name):
    return in_classes(mro(get_type(v)), name)[0]


def resolved(v, holder):
    """Returns whether a class's attribute is known without calling it, and what
    it is."""
    t = get_type(v)
    if t is member and holder is not None:
        try:
            return True, v.__get__(holder)
        except AttributeError:
            return False, None
    if t in (staticmethod, classmethod):
        return True, v.__func__
    return t in plain or is_type(v) or not defines(v, '__get__'), v


def attribute(v, name):
    there, found = in_classes(mro(get_type(v)), name)
    if there and (defines(found, '__set__') or get_type(found) is property):
        return resolved(found, v)
    if is_type(v):
        mine, value = in_classes(mro(v), name)
        if mine:
            return resolved(value, None)
    else:
        mine, value = find(own(v), name)
        if mine:
            return True, value
    if not there and installed(v):
        try:
            return True, getattr(v, name)  # as a column of a table
        except Exception:
            return False, None
    return resolved(found, v) if there else (False, None)


def evaluated(path):
    """Returns the object that a dotted path names."""
    builtins = __builtins__
    there, v = find(space, path[0])
    if not there:
        there, v = find(builtins, path[0])
    for name in path[1:]:
        if there:
            there, v = attribute(v, name)
    return there, v


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
    found = {k for k in names if k.startswith(word) and k.isidentifier() and not (hidden and k.startswith(hidden))}
    return sorted(found, key=lambda k: (k.startswith('_'), k))


def complete(code, cursor):
    path, word = split(code[:cursor].decode())
    names = []
    if path:
        there, v = evaluated(path)
        if there:
            names = members(v)
    elif path is not None:
        names = KEYWORDS + names_of(space) + names_of(__builtins__)
    return cursor - len(word.encode()), cursor, '\n'.join(wanted(names, word, bool(path))[:MOST])
