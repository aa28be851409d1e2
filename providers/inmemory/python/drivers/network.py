# HTTP by the host: http.client, and urllib over it, send and read whole messages.

MAX_BODY = 16 << 20  # of a request; the host has the same for an answer


def no_network(*args, **kwargs):
    """Stands for what looks up addresses."""
    raise OSError(own_import('errno').ENOTSUP, 'there is no network here')


class Exchange:
    """Stands for the socket of a connection."""

    def __init__(self, origin, timeout):
        self.origin, self.timeout, self.sent = origin, timeout, bytearray()

    def sendall(self, data):
        self.sent += data
        if len(self.sent) > MAX_BODY:
            raise OSError('a request of more than %d bytes' % MAX_BODY)

    def close(self):
        pass

    def makefile(self, *args, **kwargs):
        if self.sent:
            self.exchange()
        return io.BytesIO(self.answer)

    def exchange(self):
        head, _, body = bytes(self.sent).partition(b'\r\n\r\n')
        self.sent.clear()
        line, *lines = head.decode('latin-1').split('\r\n')
        method, target, _ = line.split(' ')
        headers = [line.split(': ', 1) for line in lines]
        if any(name.lower() == 'transfer-encoding' for name, _ in headers):
            body = whole_of(body)
        self.answer = fetched(method, self.origin + target, headers, body, self.timeout)


def whole_of(chunks):
    """Returns a body that was sent in chunks."""
    body = b''
    while chunks:
        size, _, rest = chunks.partition(b'\r\n')
        n = int(size, 16)
        body, chunks = body + rest[:n], rest[n + 2:]
    return body


def fetched(method, url, headers, body, timeout):
    """Returns the answer to a request, as a server sends it."""
    if occupied():
        raise OSError('nothing can be fetched here: another call of this thread is on its way')
    json = own_import('json')
    flush()
    state.calls += 1
    request = {'id': state.calls, 'url': url, 'method': method, 'redirect': 'manual', 'headers': headers}
    if body:
        request['body'] = body.decode('latin-1')
    wait = int(timeout * 1e6) if isinstance(timeout, (int, float)) and timeout < 1e9 else -1
    answer = ask(b'U', wait, state.calls, json.dumps(request, ensure_ascii=False))
    how, result = answer or (b'timeout', b'')
    if how == b'none':
        no_network()
    if how == b'timeout':
        raise TimeoutError('timed out')
    if how != b'ok':
        raise OSError(result.decode())
    return result


def with_exchanges(loader, module):
    """Lets the host make the requests of http.client, also those of https, whose module ssl
    is not there."""
    loader.exec_module(module)

    def connect(self):
        scheme = 'https' if self.default_port == module.HTTPS_PORT else 'http'
        host = '[%s]' % self.host if ':' in self.host else self.host
        self.sock = Exchange('%s://%s:%d' % (scheme, host, self.port), self.timeout)

    plain = module.HTTPConnection.request

    def request(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        self.sock.exchange()  # now, as urllib expects refusals here

    class HTTPSConnection(module.HTTPConnection):
        default_port = module.HTTPS_PORT

        def __init__(self, *args, context=None, **kwargs):
            super().__init__(*args, **kwargs)

    HTTPSConnection.__module__, HTTPSConnection.__qualname__ = module.__name__, 'HTTPSConnection'
    module.HTTPConnection.connect, module.HTTPConnection.request = connect, request
    module.HTTPSConnection, module._create_https_context = HTTPSConnection, lambda version: None
