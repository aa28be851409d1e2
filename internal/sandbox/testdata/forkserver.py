# A fork server for the tests: for each request on descriptor 3 it forks a
# child, which applies the layer that came with it and runs the code it reads
# from its standard input. Answers are lines of JSON.
import array, ctypes, json, os, resource, socket, struct, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
channel = socket.socket(fileno=3)
server = os.getpid()


def must(r):
    if r != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def apply(layer, ruleset):
    if layer["Group"]:
        os.setpgid(0, layer["Group"])
    must(libc.prctl(1, layer["DeathSignal"], 0, 0, 0))
    if os.getppid() != server:
        os._exit(1)
    os.chdir(layer["Workdir"])
    for r in layer["Rlimits"]:
        resource.setrlimit(r["Resource"], (min(r["Soft"], r["Hard"]), r["Hard"]))
    if ruleset >= 0:
        must(libc.syscall(446, ruleset, 0))
        os.close(ruleset)
    if layer["Seccomp"]:
        code = bytes.fromhex(layer["Seccomp"])
        buf = ctypes.create_string_buffer(code, len(code))
        prog = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buf))
        must(libc.prctl(22, 2, ctypes.c_char_p(prog), 0, 0))


def child(request, fds):
    channel.close()
    os.dup2(fds[0], 0)
    os.dup2(fds[1], 1)
    os.dup2(fds[1], 2)
    os.close(fds[0])
    os.close(fds[1])
    try:
        apply(request, fds[2] if len(fds) > 2 else -1)
    except BaseException as e:
        os.write(2, repr(e).encode())
        os._exit(125)
    code = open(0, "rb", closefd=False).read()
    exec(compile(code, "<code>", "exec"), sys.modules["__main__"].__dict__)
    sys.stdout.flush()
    os._exit(0)


def answer(**fields):
    channel.sendall(json.dumps(fields).encode() + b"\n")


def wait(pid):
    _, status = os.waitpid(pid, 0)
    answer(pid=pid, status=status)


answer(ready=True)
while True:
    data, ancillary, _, _ = channel.recvmsg(1 << 20, socket.CMSG_SPACE(64))
    if not data:
        break
    fds = array.array("i")
    for _, _, payload in ancillary:
        fds.frombytes(payload)
    request = json.loads(data)
    pid = os.fork()
    if pid == 0:
        child(request, list(fds))
    for fd in fds:
        os.close(fd)
    answer(pid=pid)
    threading.Thread(target=wait, args=(pid,), daemon=True).start()
