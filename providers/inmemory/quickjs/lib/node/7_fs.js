// fs, on the file system in memory.

const pathOf = (p) => {
  if (typeof p === "string") return p;
  if (p instanceof Uint8Array) return host.decode(p, false);
  if (p !== null && typeof p === "object" && p.protocol === "file:") return decodeURIComponent(p.pathname);
  throw badArgument("path", "of type string or an instance of Buffer or URL", p);
};
const encodingIn = (o) => (typeof o === "string" ? o : o?.encoding ?? null);
const bytesOf = (data, encoding) => {
  if (typeof data === "string") return encode(data, encoding ?? "utf8");
  if (ArrayBuffer.isView(data)) return data;
  throw badArgument("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
};

class Stats {
  constructor([dir, size, ms]) {
    Object.assign(this, { dev: 1, mode: dir ? 0o40755 : 0o100644, nlink: 1, uid: 1000, gid: 1000, size, atimeMs: ms, mtimeMs: ms, ctimeMs: ms, birthtimeMs: ms,
      atime: new Date(ms), mtime: new Date(ms), ctime: new Date(ms), birthtime: new Date(ms) });
  }
  isDirectory() { return this.mode >= 0o40000 && this.mode < 0o50000; }
  isFile() { return this.mode >= 0o100000; }
  isSymbolicLink() { return false; }
  isFIFO() { return false; }
  isSocket() { return false; }
  isBlockDevice() { return false; }
  isCharacterDevice() { return false; }
}
class Dirent {
  #dir;
  constructor(name, parent, dir) { this.name = name; this.parentPath = parent; this.path = parent; this.#dir = dir; }
  isDirectory() { return this.#dir; }
  isFile() { return !this.#dir; }
  isSymbolicLink() { return false; }
}

const open = new Map();
let nextFD = 3;
const file = (fd) => {
  const f = open.get(fd);
  if (f === undefined) throw error(Error, "EBADF", "EBADF: bad file descriptor");
  return f;
};
const exists = (p) => { try { host.fs("stat", p); return true; } catch { return false; } };
const checkFlag = (p, flag) => {
  if (flag.includes("x") && exists(p)) throw Object.assign(error(Error, "EEXIST", `EEXIST: file already exists, open '${p}'`), { syscall: "open", path: p });
};

const sync = {
  readFile(p, o) {
    let b;
    if (p === 0 || p === "/dev/stdin") b = host.stdin(-1);
    else if (typeof p === "number") { const f = file(p); b = host.fs("open", f.path).subarray(f.at); f.at += b.length; }
    else b = host.fs("open", pathOf(p));
    const e = encodingIn(o);
    return e === null || e === "buffer" ? Buffer.from(b.buffer, b.byteOffset, b.byteLength) : decode(b, e);
  },
  writeFile(p, data, o) {
    const b = bytesOf(data, encodingIn(o));
    if (p === 1 || p === 2 || p === "/dev/stdout" || p === "/dev/stderr") { host.write(p === 1 || p === "/dev/stdout" ? 1 : 2, b); return; }
    if (typeof p === "number") { sync.write(p, b); return; }
    const flag = o?.flag ?? "w";
    p = pathOf(p);
    checkFlag(p, flag);
    host.fs(flag.startsWith("a") ? "append" : "write", p, b);
  },
  appendFile(p, data, o) {
    if (p === 1 || p === 2) host.write(p, bytesOf(data, encodingIn(o)));
    else host.fs("append", typeof p === "number" ? file(p).path : pathOf(p), bytesOf(data, encodingIn(o)));
  },
  access(p) { host.fs("stat", pathOf(p)); },
  stat(p, o) {
    try { return new Stats(host.fs("stat", pathOf(p))); } catch (e) { if (o?.throwIfNoEntry === false && e.code === "ENOENT") return undefined; throw e; }
  },
  readdir(p, o) {
    const dir = pathOf(p);
    const out = [];
    const walk = (d, prefix) => {
      const list = host.fs("scandir", d);
      for (let i = 0; i < list.length; i += 2) {
        out.push(o?.withFileTypes ? new Dirent(list[i], d, list[i + 1]) : prefix + list[i]);
        if (o?.recursive && list[i + 1]) walk(d + "/" + list[i], prefix + list[i] + "/");
      }
    };
    walk(dir, "");
    return out;
  },
  mkdir(p, o) {
    p = pathOf(p);
    if (!o?.recursive) { host.fs("mkdir", p); return undefined; }
    const first = exists(p) ? undefined : path.resolve(p);
    host.fs("mkdirp", p);
    return first;
  },
  mkdtemp(prefix) { const p = prefix + Array.from(crypto.randomBytes(3), (b) => b.toString(16).padStart(2, "0")).join(""); host.fs("mkdirp", p); return p; },
  rm(p, o) {
    p = pathOf(p);
    let s;
    try { s = sync.stat(p); } catch (e) { if (o?.force && e.code === "ENOENT") return; throw e; }
    if (s.isDirectory() && !o?.recursive) throw error(Error, "ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${p}`);
    host.fs("rm", p);
  },
  rmdir(p, o) { host.fs(o?.recursive ? "rm" : "rmdir", pathOf(p)); },
  unlink(p) { host.fs("unlink", pathOf(p)); },
  rename(a, b) { host.fs("rename", pathOf(a), pathOf(b)); },
  copyFile(a, b) { host.fs("write", pathOf(b), host.fs("open", pathOf(a))); },
  cp(a, b, o) {
    if (!sync.stat(a).isDirectory()) { sync.copyFile(a, b); return; }
    if (!o?.recursive) throw error(Error, "ERR_FS_EISDIR", `Recursive option not enabled, cannot copy a directory: ${a}`);
    host.fs("mkdirp", pathOf(b));
    for (const e of sync.readdir(a, { withFileTypes: true })) sync.cp(`${a}/${e.name}`, `${b}/${e.name}`, o);
  },
  truncate(p, n = 0) { host.fs("truncate", typeof p === "number" ? file(p).path : pathOf(p), n); },
  realpath(p) { return host.fs("realpath", pathOf(p)); },
  utimes() {}, chmod() {}, chown() {}, fsync() {},
  open(p, flag = "r") {
    p = pathOf(p);
    checkFlag(p, flag);
    if (flag.startsWith("w")) host.fs("write", p, ""); else if (flag.startsWith("a")) host.fs("append", p, ""); else host.fs("stat", p);
    if (open.size >= 1024) throw error(Error, "EMFILE", `EMFILE: too many open files, open '${p}'`);
    open.set(nextFD, { path: path.resolve(p), at: 0, append: flag.startsWith("a") });
    return nextFD++;
  },
  close(fd) { file(fd); open.delete(fd); },
  fstat(fd) { return sync.stat(file(fd).path); },
  read(fd, into, at = 0, length = into.byteLength - at, position = null) {
    if (at !== null && typeof at === "object") ({ offset: at = 0, length = into.byteLength - at, position = null } = at);
    let b;
    if (fd === 0) b = host.stdin(length);
    else {
      const f = file(fd), from = position ?? f.at;
      b = host.fs("open", f.path).subarray(Number(from), Number(from) + length);
      if (position === null) f.at += b.length;
    }
    into.set(b, at);
    return b.length;
  },
  write(fd, data, at, length, position) {
    let b = bytesOf(data, typeof data === "string" ? length : undefined);
    if (typeof data !== "string" && typeof at === "number") b = b.subarray(at, at + (length ?? b.length));
    if (fd === 1 || fd === 2) { host.write(fd, b); return b.length; }
    const f = file(fd);
    const where = typeof data === "string" ? at : position;
    const old = host.fs("open", f.path);
    const from = f.append ? old.length : typeof where === "number" ? where : f.at;
    if (from === old.length) host.fs("append", f.path, b);
    else {
      const all = new Uint8Array(Math.max(old.length, from + b.length));
      all.set(old);
      all.set(b, from);
      host.fs("write", f.path, all);
    }
    if (typeof where !== "number") f.at = from + b.length;
    return b.length;
  },
};
sync.lstat = sync.stat;

const promises = {}, fs = { constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 }, Stats, Dirent, promises };
for (const [name, f] of Object.entries(sync)) {
  fs[`${name}Sync`] = f;
  promises[name] = async (...args) => f(...args);
  fs[name] = (...args) => {
    const done = args.pop();
    if (typeof done !== "function") throw badArgument("cb", "of type function", done);
    let r, e = null;
    try { r = f(...args); } catch (x) { e = x; }
    setImmediate(() => { if (e !== null) done(e); else if (name === "read" || name === "write") done(null, r, args[1]); else done(null, r); });
  };
}
fs.existsSync = (p) => { try { return exists(pathOf(p)); } catch { return false; } };
fs.exists = (p, done) => { const r = fs.existsSync(p); setImmediate(() => done(r)); };
promises.constants = fs.constants;
promises.open = async (p, flag) => {
  const fd = sync.open(p, flag);
  return { fd, readFile: async (o) => sync.readFile(fd, o), writeFile: async (d, o) => sync.writeFile(fd, d, o), appendFile: async (d, o) => sync.appendFile(fd, d, o),
    read: async (b, ...a) => ({ bytesRead: sync.read(fd, b, ...a), buffer: b }), write: async (d, ...a) => ({ bytesWritten: sync.write(fd, d, ...a), buffer: d }),
    stat: async () => sync.fstat(fd), truncate: async (n) => sync.truncate(fd, n), close: async () => sync.close(fd),
    async *readLines() { yield* sync.readFile(fd, "utf8").replace(/\n$/, "").split("\n"); } };
};
fs.createWriteStream = (p, o) => {
  const s = new EventEmitter();
  host.fs(o?.flags === "a" ? "append" : "write", pathOf(p), "");
  return Object.assign(s, {
    path: p, bytesWritten: 0,
    write(data, encoding, done) {
      const b = bytesOf(data, typeof encoding === "string" ? encoding : undefined);
      host.fs("append", pathOf(p), b);
      s.bytesWritten += b.length;
      const f = typeof encoding === "function" ? encoding : done;
      if (f) queueMicrotask(f);
      return true;
    },
    end(data, ...rest) {
      if (data !== undefined && typeof data !== "function") s.write(data, ...rest);
      setImmediate(() => { s.emit("finish"); s.emit("close"); });
      const f = [data, ...rest].find((x) => typeof x === "function");
      if (f) setImmediate(f);
    },
  });
};
fs.createReadStream = (p, o) => {
  const s = new EventEmitter();
  const text = () => sync.readFile(p, encodingIn(o));
  setImmediate(() => {
    try {
      const d = text();
      if (d.length > 0) s.emit("data", d);
      s.emit("end");
      s.emit("close");
    } catch (e) { s.emit("error", e); }
  });
  s.setEncoding = (e) => { o = e; return s; };
  s.pipe = (to) => { s.on("data", (d) => to.write(d)); s.on("end", () => { if (to.fd === undefined) to.end(); }); return to; };
  s[Symbol.asyncIterator] = async function* () { const d = text(); if (d.length > 0) yield d; };
  return s;
};
