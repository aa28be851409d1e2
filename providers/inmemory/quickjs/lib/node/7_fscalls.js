// fs: copies of directories, and what calls back and promises.

const cpError = (code, errno, text, p) => Object.assign(error(Error, code, text), { name: "SystemError", errno, syscall: "cp", path: p });
function copyTree(a, b, o) {
  if (o?.filter !== undefined && !o.filter(a, b)) return;
  const from = statOf(a, undefined, "lstat"), to = statOf(b, { throwIfNoEntry: false }, "lstat");
  if (from.isDirectory()) {
    if (!o?.recursive) throw cpError("ERR_FS_EISDIR", 22, `Path is a directory: cp returned EISDIR (${a} is a directory (not copied)) ${a}`, a);
    if (`${path.resolve(b)}/`.startsWith(`${path.resolve(a)}/`)) throw cpError("ERR_FS_CP_EINVAL", 22, `Invalid src or dest: cp returned EINVAL (cannot copy ${a} to a subdirectory of self ${b}) ${b}`, b);
    if (to?.isFile()) throw cpError("ERR_FS_CP_DIR_TO_NON_DIR", 21, `Cannot overwrite non-directory with directory: cp returned EISDIR (cannot overwrite non-directory ${b} with directory ${a}) ${b}`, b);
    disk("mkdirp", b);
    for (const name of sync.readdir(a)) copyTree(path.join(a, name), path.join(b, name), o);
    return;
  }
  if (to?.isDirectory()) throw cpError("ERR_FS_CP_NON_DIR_TO_DIR", 20, `Cannot overwrite directory with non-directory: cp returned ENOTDIR (cannot overwrite directory ${b} with non-directory ${a}) ${b}`, b);
  if (to !== undefined && o?.force === false) {
    if (o.errorOnExist) throw cpError("ERR_FS_CP_EEXIST", 17, `Target already exists: cp returned EEXIST (${b} already exists) ${b}`, b);
    return;
  }
  disk("mkdirp", path.dirname(b));
  sync.copyFile(a, b, o?.mode);
  if (o?.preserveTimestamps) disk("utimes", b, from.mtimeMs);
}

const promises = {}, fs = { constants, Stats, Dirent, promises, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 };
const misused = (e) => e instanceof Error && `${e.code}`.startsWith("ERR_INVALID_ARG") || e?.code === "ERR_OUT_OF_RANGE";
for (const [name, f] of Object.entries(sync)) {
  fs[`${name}Sync`] = f;
  promises[name] = async (...args) => f(...args);
  fs[name] = (...args) => {
    const done = args.pop();
    if (typeof done !== "function") throw badArgument("cb", "of type function", done);
    let r, e = null;
    try { r = f(...args); } catch (x) { if (misused(x)) throw x; e = x; }
    setImmediate(() => { if (e !== null) done(e); else if (name === "read" || name === "write") done(null, r, args[1]); else done(null, r); });
  };
}
fs.existsSync = (p) => { try { return exists(pathOf(p)); } catch { return false; } };
fs.exists = (p, done) => { const r = fs.existsSync(p); setImmediate(() => done(r)); };
promises.constants = constants;
for (const name of ["readFile", "writeFile", "appendFile"]) {
  const f = promises[name];
  promises[name] = async (p, ...rest) => f(p?.fd ?? p, ...rest);
}
promises.open = async (p, flag, mode) => {
  const fd = sync.open(p, flag, mode);
  const h = { fd, readFile: async (o) => sync.readFile(fd, o), writeFile: async (d, o) => promises.writeFile(fd, d, o), appendFile: async (d, o) => promises.writeFile(fd, d, o),
    async read(b, ...a) { const into = ArrayBuffer.isView(b) ? b : b?.buffer ?? Buffer.alloc(16384); return { bytesRead: sync.read(fd, into, ...(b === into ? a : [b ?? {}])), buffer: into }; },
    write: async (d, ...a) => ({ bytesWritten: sync.write(fd, d, ...a), buffer: d }),
    stat: async (o) => sync.fstat(fd, o), truncate: async (n) => sync.ftruncate(fd, n), chmod: async (mode) => sync.fchmod(fd, mode), utimes: async (a, m) => sync.futimes(fd, a, m),
    sync: async () => {}, datasync: async () => {}, async close() { if (h.fd < 0) return; h.fd = -1; sync.close(fd); },
    createReadStream: (o) => new ReadStream(null, { ...o, fd }), createWriteStream: (o) => new WriteStream(null, { ...o, fd }),
    readLines: (o) => new Interface({ input: new ReadStream(null, { ...o, fd }) }) };
  return h;
};
