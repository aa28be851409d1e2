// url: what is beside URL. The older functions parse, format and resolve are missing.

const url = {
  get URL() { return globalThis.URL; }, get URLSearchParams() { return globalThis.URLSearchParams; },
  fileURLToPath(u) {
    u = typeof u === "string" ? new globalThis.URL(u) : u;
    if (u?.protocol !== undefined && u.protocol !== "file:") throw error(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    if (u?.hostname) throw error(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
    if (/%2f/i.test(u?.pathname)) throw error(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
    return pathOf(u);
  },
  pathToFileURL(p) {
    const full = path.resolve(p) + (p.endsWith("/") && path.resolve(p) !== "/" ? "/" : "");
    return new globalThis.URL("file://" + full.replace(/[%\\\n\r\t?#~^|[\]`{}]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`));
  },
};
