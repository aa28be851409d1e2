// fs, on the file system in memory.

const errnos = { EPERM: -1, ENOENT: -2, EBADF: -9, EACCES: -13, EEXIST: -17, ENOTDIR: -20, EISDIR: -21, EINVAL: -22, EMFILE: -24, ENOSPC: -28, ENOTEMPTY: -39 };
const system = (code, text, syscall, path) => Object.assign(error(Error, code, `${code}: ${text}, ${syscall}${path === undefined ? "" : ` '${path}'`}`),
  { errno: errnos[code], syscall }, path === undefined ? {} : { path });
const disk = (...args) => {
  try { return host.fs(...args); } catch (e) { if (errnos[e?.code] !== undefined) e.errno = errnos[e.code]; throw e; }
};
// between gives an error both names of what has two.
const between = (syscall, from, to, f) => {
  try { return f(); } catch (e) {
    if (errnos[e?.code] === undefined) throw e;
    e.message = `${e.message.slice(0, e.message.lastIndexOf(", "))}, ${syscall} '${from}' -> '${to}'`;
    throw Object.assign(e, { syscall, path: from, dest: to });
  }
};

const pathOf = (p) => {
  if (typeof p === "string") return p;
  if (p instanceof Uint8Array) return host.decode(p, false);
  if (p !== null && typeof p === "object" && p.protocol === "file:") return decodeURIComponent(p.pathname);
  throw badArgument("path", "of type string or an instance of Buffer or URL", p);
};
const encodingIn = (o) => {
  const e = typeof o === "string" ? o : o?.encoding ?? null;
  if (e !== null && e !== "buffer" && !Buffer.isEncoding(e)) throw badValue("encoding", e, "is invalid encoding");
  return e;
};
const viewOf = (v) => (v instanceof Uint8Array ? v : new Uint8Array(v.buffer, v.byteOffset, v.byteLength));
const bytesOf = (data, encoding) => {
  if (typeof data === "string") return encode(data, encoding ?? "utf8");
  if (ArrayBuffer.isView(data)) return viewOf(data);
  throw badArgument("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
};
const goOn = (o) => {
  const signal = o?.signal;
  if (signal?.aborted) throw Object.assign(error(Error, "ABORT_ERR", "The operation was aborted"), { name: "AbortError", cause: signal.reason });
};

const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4,
  O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o40000 };
function flagsOf(flag = "r") {
  if (flag === null) flag = "r";
  const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = constants;
  if (typeof flag === "number") {
    return { read: (flag & O_WRONLY) === 0, write: (flag & (O_WRONLY | O_RDWR)) !== 0, create: (flag & O_CREAT) !== 0, fresh: (flag & O_EXCL) !== 0, empty: (flag & O_TRUNC) !== 0, append: (flag & O_APPEND) !== 0 };
  }
  // An s, for synchronous, means nothing here; an x is recognized by the second letter.
  const s = `${flag}`.replace(/^s(?=[ra])|(?<=^[ra])s/, "").replace(/^x(?=[wa])|(?<=^[wa])x/, "X");
  const m = /^(?:(r)|(X?)([wa])(X?))(\+?)$/.exec(s);
  if (m === null || m[2] && m[4]) throw badValue("flags", flag);
  const read = m[1] === "r", both = m[5] === "+";
  return { read: read || both, write: !read || both, create: !read, fresh: !!(m[2] || m[4]), empty: m[3] === "w", append: m[3] === "a" };
}
const modeOf = (mode) => {
  const n = typeof mode === "string" && /^[0-7]+$/.test(mode) ? parseInt(mode, 8) : mode;
  if (typeof n !== "number") throw badValue("mode", mode, "must be a 32-bit unsigned integer or an octal string.");
  return n & 0o7777;
};
const seconds = (t) => {
  const n = t instanceof Date ? t.getTime() / 1000 : typeof t === "string" ? +t : t;
  if (typeof n !== "number" || Number.isNaN(n)) throw badArgument("time", "of type number or an instance of Date", t);
  return n;
};

class Stats {
  constructor([dir, size, ms, mode], big) {
    const n = big ? (x) => BigInt(Math.trunc(x)) : (x) => x;
    Object.assign(this, { dev: n(1), mode: n((dir ? constants.S_IFDIR : constants.S_IFREG) | mode), nlink: n(1), uid: n(1000), gid: n(1000), rdev: n(0), blksize: n(4096), size: n(size), blocks: n(Math.ceil(size / 512)),
      atimeMs: n(ms), mtimeMs: n(ms), ctimeMs: n(ms), birthtimeMs: n(ms) });
    if (big) for (const t of ["atime", "mtime", "ctime", "birthtime"]) this[`${t}Ns`] = n(ms) * 1000000n;
    Object.assign(this, { atime: new Date(ms), mtime: new Date(ms), ctime: new Date(ms), birthtime: new Date(ms) });
  }
  isDirectory() { return (Number(this.mode) & constants.S_IFMT) === constants.S_IFDIR; }
  isFile() { return (Number(this.mode) & constants.S_IFMT) === constants.S_IFREG; }
}
class Dirent {
  #dir;
  constructor(name, parent, dir) { this.name = name; this.parentPath = parent; this.path = parent; this.#dir = dir; }
  isDirectory() { return this.#dir; }
  isFile() { return !this.#dir; }
}
for (const c of [Stats, Dirent]) for (const m of ["isSymbolicLink", "isFIFO", "isSocket", "isBlockDevice", "isCharacterDevice"]) c.prototype[m] = () => false;

const open = new Map();
let nextFD = 3;
const file = (fd, syscall = "fstat", right) => {
  if (typeof fd !== "number") throw badArgument("fd", "of type number", fd);
  const f = open.get(fd);
  if (f === undefined || right !== undefined && !f[right]) throw system("EBADF", "bad file descriptor", syscall);
  return f;
};
const exists = (p) => { try { host.fs("stat", p); return true; } catch { return false; } };
// prepare does what opening a file does to it.
function prepare(p, f, mode) {
  const there = exists(p);
  if (there && f.create && f.fresh) throw system("EEXIST", "file already exists", "open", p);
  // What is not there, and not to be made, throws its own error.
  if (!there) disk(f.create ? "write" : "open", p, "");
  else if (f.write) {
    if (disk("stat", p, "open")[0]) throw system("EISDIR", "illegal operation on a directory", "open", p);
    if (f.empty) disk("write", p, "");
  }
  // With a umask of 022.
  if (!there && mode !== undefined && mode !== null) disk("chmod", p, modeOf(mode) & ~0o22);
}
// within opens a file for one operation.
const within = (p, flag, mode, f) => {
  const fd = sync.open(p, flag, mode);
  try { return f(fd); } finally { open.delete(fd); }
};

const sync = {
  readFile(p, o) {
    goOn(o);
    const e = encodingIn(o);
    let b;
    if (p === 0 || p === "/dev/stdin") b = host.stdin(-1);
    else if (typeof p === "number") { const f = file(p, "read", "read"); b = disk("readat", f.path, f.at, Infinity); f.at += b.length; }
    else {
      p = pathOf(p);
      const flag = o?.flag ?? "r";
      if (flag !== "r") prepare(p, flagsOf(flag));
      try { b = disk("open", p); } catch (x) { if (x?.code === "EISDIR") throw system("EISDIR", "illegal operation on a directory", "read"); throw x; }
    }
    return e === null || e === "buffer" ? Buffer.from(b.buffer, b.byteOffset, b.byteLength) : decode(b, e);
  },
  writeFile(p, data, o) {
    goOn(o);
    const b = bytesOf(data, encodingIn(o));
    if (p === 1 || p === 2 || p === "/dev/stdout" || p === "/dev/stderr") { host.write(p === 1 || p === "/dev/stdout" ? 1 : 2, b); return; }
    if (typeof p === "number") { sync.write(p, b); return; }
    p = pathOf(p);
    const flag = o?.flag ?? "w", mode = o?.mode;
    if (flag === "w" && mode === undefined) disk("write", p, b);
    else if (flag === "a" && mode === undefined) disk("append", p, b);
    else within(p, flag, mode, (fd) => sync.write(fd, b));
  },
  appendFile(p, data, o) { sync.writeFile(p, data, typeof o === "string" ? { encoding: o, flag: "a" } : { flag: "a", ...o }); },
  access(p, mode = 0) {
    const s = disk("stat", pathOf(p), "access");
    if ((mode & constants.X_OK) !== 0 && (s[3] & 0o111) === 0) throw system("EACCES", "permission denied", "access", pathOf(p));
  },
  stat(p, o) { return statOf(p, o, "stat"); },
  lstat(p, o) { return statOf(p, o, "lstat"); },
  readdir(p, o) {
    const top = pathOf(p), e = encodingIn(o), out = [], dirs = [[top, ""]];
    for (const [dir, prefix] of dirs) {
      const list = disk("scandir", dir);
      for (let i = 0; i < list.length; i += 2) {
        const name = e === "buffer" ? Buffer.from(prefix + list[i]) : prefix + list[i];
        out.push(o?.withFileTypes ? new Dirent(e === "buffer" ? Buffer.from(list[i]) : list[i], dir, list[i + 1]) : name);
        if (o?.recursive && list[i + 1]) dirs.push([path.join(dir, list[i]), `${prefix}${list[i]}/`]);
      }
    }
    return out;
  },
  mkdir(p, o) {
    p = pathOf(p);
    const mode = typeof o === "object" && o !== null ? o.mode : o;
    let first;
    if (!o?.recursive) disk("mkdir", p);
    else {
      for (let at = p.replace(/(.)\/+$/, "$1"); at !== "" && !exists(at); at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) first = at;
      disk("mkdirp", p);
      if (first === undefined) return undefined;
    }
    if (mode !== undefined && mode !== null) disk("chmod", p, modeOf(mode) & ~0o22);
    return first;
  },
  mkdtemp(prefix, o) {
    const p = pathOf(prefix) + Array.from(crypto.randomBytes(3), (b) => b.toString(16).padStart(2, "0")).join("");
    try { disk("mkdir", p); } catch (e) { throw errnos[e?.code] === undefined ? e : system(e.code, e.message.slice(e.code.length + 2, e.message.lastIndexOf(", ")), "mkdtemp", `${pathOf(prefix)}XXXXXX`); }
    return encodingIn(o) === "buffer" ? Buffer.from(p) : p;
  },
  rm(p, o) {
    p = pathOf(p);
    const s = statOf(p, { throwIfNoEntry: !o?.force }, "lstat");
    if (s === undefined) return;
    if (s.isDirectory() && !o?.recursive) throw Object.assign(error(Error, "ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${p}`), { name: "SystemError", errno: 21, syscall: "rm", path: p });
    disk("rm", p);
  },
  rmdir(p, o) {
    p = pathOf(p);
    if (!o?.recursive) { disk("rmdir", p); return; }
    disk("stat", p, "lstat");
    disk("rm", p);
  },
  unlink(p) { disk("unlink", pathOf(p)); },
  rename(a, b) { between("rename", pathOf(a), pathOf(b), () => disk("rename", pathOf(a), pathOf(b))); },
  copyFile(a, b, mode = 0) {
    a = pathOf(a); b = pathOf(b);
    between("copyfile", a, b, () => {
      const data = disk("open", a);
      if ((mode & constants.COPYFILE_EXCL) !== 0 && exists(b)) throw system("EEXIST", "file already exists", "copyfile", a);
      if ((mode & constants.COPYFILE_FICLONE_FORCE) !== 0) throw system("EINVAL", "files are not cloned here", "copyfile", a);
      if (path.resolve(a) !== path.resolve(b)) disk("write", b, data);
    });
  },
  cp(a, b, o) { copyTree(pathOf(a), pathOf(b), o); },
  truncate(p, n = 0) { if (typeof p === "number") sync.ftruncate(p, n); else disk("truncate", pathOf(p), Math.max(0, n ?? 0)); },
  ftruncate(fd, n = 0) { disk("truncate", file(fd, "ftruncate", "write").path, Math.max(0, n ?? 0)); },
  symlink(a, b) { between("symlink", pathOf(a), pathOf(b), () => { throw system("EPERM", "operation not permitted: the file system in memory has no links", "symlink"); }); },
  link(a, b) { between("link", pathOf(a), pathOf(b), () => { throw system("EPERM", "operation not permitted: the file system in memory has no links", "link"); }); },
  readlink(p) { disk("stat", pathOf(p), "readlink"); throw system("EINVAL", "invalid argument", "readlink", pathOf(p)); },
  realpath(p) { return disk("realpath", pathOf(p)); },
  utimes(p, accessed, modified) { seconds(accessed); disk("utimes", pathOf(p), seconds(modified) * 1000); },
  futimes(fd, accessed, modified) { sync.utimes(file(fd, "futime").path, accessed, modified); },
  chmod(p, mode) { disk("chmod", pathOf(p), modeOf(mode)); },
  fchmod(fd, mode) { sync.chmod(file(fd, "fchmod").path, mode); },
  chown(p) { disk("stat", pathOf(p), "chown"); },
  fsync(fd) { file(fd, "fsync"); }, fdatasync(fd) { file(fd, "fdatasync"); },
  open(p, flag = "r", mode) {
    p = pathOf(p);
    const f = flagsOf(flag);
    prepare(p, f, mode);
    if (open.size >= 1024) throw system("EMFILE", "too many open files", "open", p);
    open.set(nextFD, { path: path.resolve(p), at: 0, read: f.read, write: f.write, append: f.append });
    return nextFD++;
  },
  close(fd) { file(fd, "close"); open.delete(fd); },
  fstat(fd, o) { return statOf(file(fd).path, o, "fstat"); },
  read(fd, into, at = 0, length, position = null) {
    if (!ArrayBuffer.isView(into) && into !== null && typeof into === "object") { at = into; into = at.buffer ?? Buffer.alloc(16384); }
    if (!ArrayBuffer.isView(into)) throw badArgument("buffer", "an instance of Buffer, TypedArray, or DataView", into);
    if (at !== null && typeof at === "object") ({ offset: at = 0, length, position = null } = at);
    const view = viewOf(into);
    at ??= 0;
    length ??= view.length - at;
    if (!Number.isInteger(at) || at < 0 || at > view.length && length !== 0) throw outOfRange("offset", `>= 0 && <= ${view.length}`, at);
    if (length === 0) return 0;
    if (!Number.isInteger(length) || length < 0) throw outOfRange("length", ">= 0", length);
    if (length > view.length - at) throw outOfRange("length", `<= ${view.length - at}`, length);
    if (typeof position === "number" && !Number.isInteger(position)) throw outOfRange("position", "an integer", position);
    if (position != null && !(Math.abs(Number(position)) <= Number.MAX_SAFE_INTEGER)) throw outOfRange("position", `>= -1 && <= ${Number.MAX_SAFE_INTEGER}`, position);
    let b;
    if (fd === 0) b = host.stdin(length);
    else {
      const f = file(fd, "read", "read"), own = position === null || position === undefined || position < 0;
      if (disk("stat", f.path, "read")[0]) throw system("EISDIR", "illegal operation on a directory", "read");
      b = disk("readat", f.path, own ? f.at : Number(position), length);
      if (own) f.at += b.length;
    }
    view.set(b, at);
    return b.length;
  },
  write(fd, data, at, length, position) {
    let b = bytesOf(data, typeof data === "string" ? length : undefined);
    if (typeof data === "string") position = at;
    else {
      if (at !== null && typeof at === "object") ({ offset: at, length, position } = at);
      at ??= 0;
      length ??= b.length - at;
      if (!Number.isInteger(at) || at < 0 || at > b.length) throw outOfRange("offset", `<= ${b.length}`, at);
      if (!Number.isInteger(length) || length < 0 || length > b.length - at) throw outOfRange("length", `<= ${b.length - at}`, length);
      b = b.subarray(at, at + length);
    }
    if (fd === 1 || fd === 2) { host.write(fd, b); return b.length; }
    const f = file(fd, "write", "write"), own = typeof position !== "number" && typeof position !== "bigint";
    disk("writeat", f.path, b, f.append ? -1 : own ? f.at : Number(position));
    if (own) f.at += b.length;
    return b.length;
  },
};
function statOf(p, o, syscall) {
  p = pathOf(p);
  try { return new Stats(disk("stat", p, syscall), o?.bigint); } catch (e) { if (o?.throwIfNoEntry === false && e.code === "ENOENT") return undefined; throw e; }
}
