# The files of a context or a run, for its client. Requests come on the control
# channel, which kernels serve in a thread of its own, so a program that computes
# does not block them. Nothing stays open between requests.
#
# A program can reach whatever these requests can: links that lead out are refused so
# that a client does not take other files for a context's.

import base64, contextlib, errno, hashlib, os, shutil, stat, time

FILES_REQUEST, FILES_REPLY = "toolcell_files_request", "toolcell_files_reply"
MAX_SCAN, MAX_LIST = 1 << 18, 1 << 20
PAGE, PIECE, TICK = 5000, 4 << 20, 0.011

# Caches, which are no artifacts (see package artifact).
CACHES = {b".git", b"node_modules", b".venv", b"__pycache__", b".cache"}


class Fault(Exception):
    """What is wrong, in a word that the client knows."""


def plain(error):
    name = errno.errorcode.get(error.errno, "")
    return {"ENXIO": "special", "ENODEV": "special", "ENOSPC": "quota", "EDQUOT": "quota", "EFBIG": "large"}.get(name, name)


def pack(data):
    return base64.b64encode(data).decode()


def describe(st, **more):
    return dict(mode=st.st_mode, size=st.st_size, time=st.st_mtime_ns, id="%d:%d" % (st.st_dev, st.st_ino), **more)


def state(st):
    return st.st_dev, st.st_ino, st.st_mode, st.st_size, st.st_mtime_ns, st.st_ctime_ns


class Files:
    """The directory in which a session's programs start."""

    def __init__(self, kernel):
        self.before, self.session = {}, kernel.session
        self.here()
        kernel.control_handlers[FILES_REQUEST] = self.serve

    def here(self):
        self.root = os.path.realpath(os.getcwdb())

    def serve(self, stream, ident, message):
        content = message["content"]
        try:
            answer = getattr(self, "do_" + str(content.get("op")))(content)
        except Fault as error:
            answer = {"fault": str(error)}
        except OSError as error:
            answer = {"fault": plain(error) or "broken"}
        except Exception:
            answer = {"fault": "broken"}
        self.session.send(stream, FILES_REPLY, answer or {}, parent=message, ident=ident)

    def path(self, content, follow=True, key="name"):
        """Where a name leads; if follow is not set, a link at its end is not followed."""
        name = base64.b64decode(content[key])
        if name == b".":
            return self.root
        path = os.path.join(self.root, name)
        dir, name = os.path.split(path)
        path = os.path.realpath(path) if follow else os.path.join(os.path.realpath(dir), name)
        if path != self.root and not path.startswith(os.path.join(self.root, b"")):
            raise Fault("outside")
        return path

    @contextlib.contextmanager
    def open(self, content, flags):
        """Opens a file. One that is not regular is never opened so that it blocks, and one
        that is not the one that the client means is not opened."""
        have = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        if "w" in flags:
            have |= os.O_RDWR if "r" in flags else os.O_WRONLY
        for letter, flag in (("a", os.O_APPEND), ("c", os.O_CREAT), ("x", os.O_EXCL)):
            if letter in flags:
                have |= flag
        fd = os.open(self.path(content, "x" not in flags), have, content.get("perm", 0) & 0o777)
        try:
            st, want = os.fstat(fd), content.get("id")
            if stat.S_ISDIR(st.st_mode):
                raise Fault("EISDIR")
            if not stat.S_ISREG(st.st_mode):
                raise Fault("special")
            if want and want != describe(st)["id"]:
                raise Fault("ENOENT")
            # Not by O_TRUNC: only now it is known to be the file that is meant.
            if "t" in flags:
                os.ftruncate(fd, 0)
            yield fd
        finally:
            os.close(fd)

    def do_stat(self, content):
        return describe(os.lstat(self.path(content, content["follow"])))

    def do_open(self, content):
        """Opens, creates or truncates a file, and returns its identity."""
        with self.open(content, content["flags"]) as fd:
            return describe(os.fstat(fd))

    def do_read(self, content):
        with self.open(content, "r") as fd:
            os.lseek(fd, content["at"], os.SEEK_SET)
            return {"data": pack(os.read(fd, min(content["size"], PIECE)))}

    def do_write(self, content):
        data, done = base64.b64decode(content["data"]), 0
        with self.open(content, "wa" if content["append"] else "w") as fd:
            if not content["append"]:
                os.lseek(fd, content["at"], os.SEEK_SET)
            try:
                while done < len(data):
                    done += os.write(fd, data[done:])
            except OSError as error:
                return {"size": done, "fault": plain(error)}
            return {"size": done, "at": os.lseek(fd, 0, os.SEEK_CUR)}

    def do_list(self, content):
        """What is in a directory, sorted, from behind a name on."""
        dir, after = self.path(content), base64.b64decode(content["after"] or "")
        names = sorted(name for name in os.listdir(dir) if name > after)
        if len(names) > MAX_LIST:
            raise Fault("large")
        entries = []
        for name in names[:PAGE]:
            with contextlib.suppress(OSError):
                entries.append(describe(os.lstat(os.path.join(dir, name)), name=pack(name)))
        return {"entries": entries, "after": pack(names[PAGE - 1]) if len(names) > PAGE else ""}

    def do_mkdir(self, content):
        if not content["all"]:
            return os.mkdir(self.path(content, False), content["perm"] & 0o777)
        try:
            os.makedirs(self.path(content), content["perm"] & 0o777, exist_ok=True)
        except FileExistsError:
            raise Fault("ENOTDIR")

    def do_remove(self, content):
        path = self.path(content, False)
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
            elif content["all"]:
                shutil.rmtree(path)
            else:
                os.rmdir(path)
        except FileNotFoundError:
            if not content["all"]:
                raise

    def do_rename(self, content):
        os.rename(self.path(content, False), self.path(content, False, "to"))

    # Artifacts.

    def scan(self, limit):
        """What is known of all that is no directory, by its path, and whether that is all."""
        found, whole, left, todo, deadline = {}, True, MAX_SCAN, [b""], time.monotonic() + limit
        while todo:
            dir = todo.pop()
            try:
                with os.scandir(os.path.join(self.root, dir)) as entries:
                    for entry in entries:
                        left -= 1
                        if left < 0 or left % 256 == 0 and time.monotonic() > deadline:
                            return found, False
                        path = os.path.join(dir, entry.name)
                        if not entry.is_dir(follow_symlinks=False):
                            found[path] = entry.stat(follow_symlinks=False)
                        elif entry.name not in CACHES:
                            todo.append(path)
            except OSError:
                whole = False
        return found, whole

    def do_snapshot(self, content):
        found, whole = self.scan(content["limit"])
        age = time.time() - max((st.st_ctime_ns for st in found.values()), default=0) / 1e9
        if 0 <= age < TICK:
            time.sleep(TICK - age)  # what changes from now on has another time
        self.before = {content["key"]: ({path: state(st) for path, st in found.items()}, whole)}

    def do_changes(self, content):
        if content["key"] not in self.before:
            raise Fault("again")
        before, all_before = self.before.pop(content["key"])
        found, whole = self.scan(content["limit"])
        changed = sorted(path for path, st in found.items() if before.get(path) != state(st))
        shown, rest = changed[: content["most"]], changed[content["most"] :]
        return {"entries": [describe(found[path], name=pack(path)) for path in shown], "whole": whole and all_before,
                "more": len(rest), "rest": sum(found[path].st_size for path in rest)}

    def do_hash(self, content):
        """Hashes a file that is as it was listed."""
        digest, size, head, deadline = hashlib.sha256(), 0, b"", time.monotonic() + content["limit"]
        with self.open(content, "r") as fd:
            while True:
                data = os.read(fd, 1 << 20)
                if not data:
                    return {"sha": digest.hexdigest(), "size": size, "data": pack(head)}
                digest.update(data)
                size += len(data)
                head += data[: 512 - len(head)]
                if size > content["most"] or time.monotonic() > deadline:
                    raise Fault("late")
