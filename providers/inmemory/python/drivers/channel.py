# The exchange with the host, in the same process: a request returns when the host is done
# with it, and what it returns is the answer.

from _toolcell import request

gate = allocate_lock()
loops = ()  # of the calls that end with a run: here the host ends them


def text(v):
    return v if type(v) is bytes else str(v).encode('utf-8', 'backslashreplace')


def frame_of(kind, fields):
    values = [kind]
    for v in fields:
        if type(v) is not bytes:
            v = str(v).encode('utf-8', 'backslashreplace')
        values += len(v), v
    body = (b'%b' + b'%08x%b' * len(fields)) % tuple(values)
    return b'%08x%b' % (len(body), body)


def fields_of(data):
    """Returns the type and the fields of a frame."""
    fields, i = [], 9
    while i < len(data):
        n = int(data[i:i + 8], 16)
        i += 8
        fields.append(data[i:i + n])
        i += n
    return data[8:9], fields


def ask(kind, *fields):
    """Returns the fields of the answer, None if the host gives none."""
    answer = request(frame_of(kind, fields))
    return None if answer is None else fields_of(answer)[1]


def send(kind, *fields):
    request(frame_of(kind, fields))


send_soon = send


def send_held(data):
    """Sends a frame in an exchange."""
    request(data)


def acknowledged(kind, *fields):
    """Sends a show or late output, in an exchange."""
    request(frame_of(kind, fields if kind == b'L' else (fields[0], 0, *fields[1:])))


def look_for_interrupt():
    """An interrupt that came before the program began comes again."""
    state.signaled = False
