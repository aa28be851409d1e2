def to_json(value, max_bytes=1 << 20, max_depth=100):
    """Returns value as JSON, or '' where that would not be the same value: None,
    bool, int, finite float, str, list, tuple (as an array) and dict with str
    keys, of exactly these types. The size is counted while walking, so a value
    that is too large costs no more than the limit."""
    try:
        from _json import encode_basestring
    except ImportError:
        from json.encoder import encode_basestring
    parts, left = [], max_bytes

    def put(s):
        nonlocal left
        left -= len(s) if s.isascii() else len(s.encode())
        if left < 0:
            raise ValueError
        parts.append(s)

    def walk(v, depth):
        kind = type(v)
        if v is None:
            put('null')
        elif kind is bool:
            put('true' if v else 'false')
        elif kind is int:
            if v.bit_length() > 14000:  # Python itself refuses to print 4300 digits
                raise ValueError
            put(repr(v))
        elif kind is float:
            if v - v != 0:
                raise ValueError
            put(repr(v))
        elif kind is str:
            if len(v) > left:
                raise ValueError
            put(encode_basestring(v))
        elif depth == max_depth:
            raise ValueError
        elif kind is list or kind is tuple:
            put('[')
            for i, element in enumerate(v):
                if i:
                    put(',')
                walk(element, depth + 1)
            put(']')
        elif kind is dict:
            put('{')
            for i, (key, element) in enumerate(v.items()):
                if type(key) is not str:
                    raise ValueError
                if i:
                    put(',')
                walk(key, depth + 1)
                put(':')
                walk(element, depth + 1)
            put('}')
        else:
            raise ValueError

    try:
        walk(value, 0)
    except Exception:  # also lone surrogates, and a dict that another thread changes
        return ''
    return ''.join(parts)
