# The files of a context or a run, for its client. Requests come on the control
# channel, which kernels serve in a thread of its own, so a program that computes
# does not block them.
#
# A path is walked name by name, from one open directory to the next: what is
# swapped for a link meanwhile leads nowhere. Nothing stays open between requests.

import base64, errno, hashlib, os, re, stat, time

FILES_REQUEST, FILES_REPLY = "toolcell_files_request", "toolcell_files_reply"
MAX_LINKS, MAX_DEPTH, MAX_SCAN, MAX_LIST = 40, 128, 1 << 18, 1 << 20
PAGE, PIECE, TICK = 5000, 4 << 20, 0.011

# Caches, which are no artifacts (see package artifact).
CACHE = re.compile(rb"(^|/)(\.git|node_modules|\.venv|__pycache__|\.cache)/")


class Fault(Exception):
    """What is wrong, in a word that the client knows."""


def plain(error):
    name = errno.errorcode.get(error.errno, "")
    return {"ENXIO": "special", "ENODEV": "special", "ENOSPC": "quota", "EDQUOT": "quota", "EFBIG": "large"}.get(name, name)


def names_of(path):
    return [] if path == b"." else path.split(b"/")


class Files:
    """The directory in which a session's programs start."""

    def __init__(self, kernel):
        self.root, self.before, self.session = os.getcwd(), {}, kernel.session
        kernel.control_handlers[FILES_REQUEST] = self.serve

    def serve(self, stream, ident, message):
        content = message["content"]
        try:
            if os.open not in os.supports_dir_fd:
                raise Fault("unsupported")
            answer = getattr(self, "do_" + str(content.get("op")))(content)
        except Fault as error:
            answer = {"fault": str(error)}
        except OSError as error:
            answer = {"fault": plain(error) or "broken"}
        except Exception:
            answer = {"fault": "broken"}
        self.session.send(stream, FILES_REPLY, answer, parent=message, ident=ident)

    def here(self):
        self.root = os.getcwd()

    # Paths.

    def walk(self, path, follow=True):
        """Opens the directory that has a path's last name, which is b"." for the
        top. The caller closes it."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        open_dirs, todo, links = [os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)], names_of(path), 0
        try:
            while todo:
                name = todo.pop(0)
                if name in (b"", b"."):
                    continue
                if name == b"..":
                    if len(open_dirs) == 1:
                        raise Fault("outside")
                    # By what was opened: of a directory that was moved meanwhile, its own ".." may
                    # lead outside.
                    os.close(open_dirs.pop())
                    continue
                if todo or follow:
                    target = self.link(open_dirs[-1], name)
                    if target is not None:
                        links += 1
                        if links > MAX_LINKS:
                            raise Fault("EINVAL")
                        if target.startswith(b"/"):
                            raise Fault("outside")
                        todo = target.split(b"/") + todo
                        continue
                if not todo:
                    return open_dirs.pop(), name
                open_dirs.append(os.open(name, flags, dir_fd=open_dirs[-1]))
                if len(open_dirs) > MAX_DEPTH:
                    raise Fault("large")
            return open_dirs.pop(), b"."
        finally:
            for fd in open_dirs:
                os.close(fd)

    def link(self, dir, name):
        try:
            return os.fsencode(os.readlink(name, dir_fd=dir))
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
                return None
            raise

    def at(self, path, act, follow=True):
        dir, name = self.walk(path, follow)
        try:
            return act(dir, name)
        finally:
            os.close(dir)

    def path(self, content, key="name"):
        return base64.b64decode(content[key] or "")

    def describe(self, st):
        return {"mode": st.st_mode, "size": st.st_size, "time": st.st_mtime_ns, "id": "%d:%d" % (st.st_dev, st.st_ino)}

    # Operations.

    def do_stat(self, content):
        look = lambda dir, name: os.stat(name, dir_fd=dir, follow_symlinks=False)
        return self.describe(self.at(self.path(content), look, content["follow"]))

    def do_open(self, content):
        """Opens, creates or truncates a file, and returns its identity."""
        with Open(self, content, content["flags"]) as f:
            return self.describe(os.fstat(f.fd))

    def do_read(self, content):
        with Open(self, content, "r") as f:
            os.lseek(f.fd, content["at"], os.SEEK_SET)
            data = os.read(f.fd, min(content["size"], PIECE))
        return {"data": self.text(data)}

    def do_write(self, content):
        data = base64.b64decode(content["data"])
        done = 0
        with Open(self, content, "wa" if content["append"] else "w") as f:
            if not content["append"]:
                os.lseek(f.fd, content["at"], os.SEEK_SET)
            try:
                while done < len(data):
                    done += os.write(f.fd, data[done:])
            except OSError as error:
                return {"size": done, "fault": plain(error)}
            return {"size": done, "at": os.lseek(f.fd, 0, os.SEEK_CUR)}

    def do_list(self, content):
        """What is in a directory, sorted, from behind a name on."""
        after = self.path(content, "after")
        with Directory(self, self.path(content)) as d:
            names = [name for name in map(os.fsencode, os.listdir(d.fd)) if name > after]
            if len(names) > MAX_LIST:
                raise Fault("large")
            names.sort()
            entries = []
            for name in names[:PAGE]:
                try:
                    st = os.stat(name, dir_fd=d.fd, follow_symlinks=False)
                except OSError:
                    continue
                entries.append(self.entry(name, st))
            return {"entries": entries, "after": self.text(names[PAGE - 1]) if len(names) > PAGE else ""}

    def entry(self, name, st):
        return dict(self.describe(st), name=self.text(name))

    def text(self, data):
        return base64.b64encode(data).decode()

    def do_mkdir(self, content):
        def make(dir, name):
            if name == b".":
                raise Fault("EEXIST")
            os.mkdir(name, content["perm"] & 0o777, dir_fd=dir)

        path = self.path(content)
        if not content["all"]:
            return self.at(path, make, False) or {}
        names = names_of(path)
        for n in range(1, len(names) + 1):
            part = b"/".join(names[:n])
            try:
                self.at(part, make, False)
            except FileExistsError:
                if not stat.S_ISDIR(self.at(part, lambda dir, name: os.stat(name, dir_fd=dir, follow_symlinks=False)).st_mode):
                    raise Fault("ENOTDIR")
        return {}

    def do_remove(self, content):
        def remove(dir, name):
            if stat.S_ISDIR(os.stat(name, dir_fd=dir, follow_symlinks=False).st_mode):
                os.rmdir(name, dir_fd=dir)
            else:
                os.unlink(name, dir_fd=dir)

        def clear(dir, name, depth=0):
            try:
                st = os.stat(name, dir_fd=dir, follow_symlinks=False)
            except FileNotFoundError:
                return
            if stat.S_ISDIR(st.st_mode):
                if depth > MAX_DEPTH:
                    raise Fault("large")
                fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir)
                try:
                    for entry in os.listdir(fd):
                        clear(fd, entry, depth + 1)
                finally:
                    os.close(fd)
            remove(dir, name)

        if not content["all"]:
            self.at(self.path(content), remove, False)
            return {}
        try:
            self.at(self.path(content), clear, False)
        except FileNotFoundError:
            pass
        return {}

    def do_rename(self, content):
        source, name = self.walk(self.path(content), False)
        try:
            target, new = self.walk(self.path(content, "to"), False)
            try:
                st = os.stat(name, dir_fd=source, follow_symlinks=False)
                try:
                    os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
                except (FileExistsError, IsADirectoryError):
                    raise Fault("ENOTEMPTY" if stat.S_ISDIR(st.st_mode) else "EISDIR")
            finally:
                os.close(target)
        finally:
            os.close(source)
        return {}

    # Artifacts.

    def scan(self, seen, deadline):
        """Calls seen for all that is no directory. Reports the time of the last
        change and whether it got through."""
        newest, whole, left = 0, True, MAX_SCAN
        todo = [(b"", 1)]
        while todo:
            path, depth = todo.pop()
            try:
                with Directory(self, path or b".") as d:
                    for name in os.listdir(d.fd):
                        left -= 1
                        if left < 0 or left % 256 == 0 and time.monotonic() > deadline:
                            return newest, False
                        try:
                            st = os.stat(name, dir_fd=d.fd, follow_symlinks=False)
                        except OSError:
                            continue
                        newest = max(newest, st.st_ctime_ns)
                        full = os.path.join(path, os.fsencode(name))
                        if not stat.S_ISDIR(st.st_mode):
                            seen(full, st)
                        elif depth < MAX_DEPTH:
                            todo.append((full, depth + 1))
                        else:
                            whole = False
            except (OSError, Fault):
                whole = False
        return newest, whole

    def state(self, st):
        return st.st_dev, st.st_ino, st.st_mode, st.st_size, st.st_mtime_ns, st.st_ctime_ns

    def do_snapshot(self, content):
        before = {}
        newest, whole = self.scan(lambda path, st: before.__setitem__(path, self.state(st)), time.monotonic() + content["limit"])
        age = time.time() - newest / 1e9
        if 0 <= age < TICK:
            time.sleep(TICK - age)  # what changes from now on has another time
        self.before = {content["key"]: (before, whole)}
        return {}

    def do_changes(self, content):
        before, whole = self.before.pop(content["key"], (None, False))
        if before is None:
            raise Fault("again")
        found = []

        def seen(path, st):
            if before.get(path) != self.state(st) and not CACHE.search(path):
                found.append((path, st))

        whole = self.scan(seen, time.monotonic() + content["limit"])[1] and whole
        found.sort(key=lambda f: f[0])
        rest = sum(st.st_size for _, st in found[content["most"] :])
        entries = [self.entry(path, st) for path, st in found[: content["most"]]]
        return {"entries": entries, "whole": whole, "more": max(len(found) - content["most"], 0), "rest": rest}

    def do_hash(self, content):
        """Hashes a file that is as it was listed."""
        digest, size, head, deadline = hashlib.sha256(), 0, b"", time.monotonic() + content["limit"]
        with Open(self, content, "r") as f:
            while True:
                data = os.read(f.fd, 1 << 20)
                if not data:
                    break
                digest.update(data)
                size += len(data)
                head += data[: 512 - len(head)]
                if size > content["most"] or time.monotonic() > deadline:
                    raise Fault("late")
        return {"sha": digest.hexdigest(), "size": size, "data": self.text(head)}


class Directory:
    """An open directory, for a with statement."""

    def __init__(self, files, path):
        self.files, self.path = files, path

    def __enter__(self):
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = self.files.at(self.path, lambda dir, name: os.open(name, flags, dir_fd=dir))
        return self

    def __exit__(self, *_):
        os.close(self.fd)


class Open:
    """An open file, for a with statement. What is no regular file is never
    opened so that it blocks, and a file that is not the one that the client
    means is not opened."""

    def __init__(self, files, content, flags):
        self.files, self.content, self.flags = files, content, flags

    def __enter__(self):
        self.fd = self.files.at(self.files.path(self.content), self.open, "x" not in self.flags)
        try:
            st, want = os.fstat(self.fd), self.content.get("id")
            if stat.S_ISDIR(st.st_mode):
                raise Fault("EISDIR")
            if not stat.S_ISREG(st.st_mode):
                raise Fault("special")
            if want and want != "%d:%d" % (st.st_dev, st.st_ino):
                raise Fault("ENOENT")
            # Not by O_TRUNC: only now it is known to be the file that is meant.
            if "t" in self.flags:
                os.ftruncate(self.fd, 0)
        except BaseException:
            os.close(self.fd)
            raise
        return self

    def open(self, dir, name):
        have = 0
        if "w" in self.flags:
            have = os.O_RDWR if "r" in self.flags else os.O_WRONLY
        for letter, flag in (("a", os.O_APPEND), ("c", os.O_CREAT), ("x", os.O_EXCL)):
            if letter in self.flags:
                have |= flag
        have |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(name, have, self.content.get("perm", 0) & 0o777, dir_fd=dir)

    def __exit__(self, *_):
        os.close(self.fd)
