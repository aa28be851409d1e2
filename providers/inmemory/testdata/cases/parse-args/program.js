const util = require("util"), show = (f) => { try { console.log(f()); } catch (e) { console.log(e.code, e.message); } };
const options = { f: { type: "boolean", short: "f" }, name: { type: "string", short: "n" }, tag: { type: "string", multiple: true }, level: { type: "string", default: "1" } };
show(() => util.parseArgs({ args: ["-f"], options: { f: { type: "boolean", short: "f" } } }).values);
show(() => util.parseArgs({ args: ["-fn", "x", "a", "--tag=1", "--tag", "2", "--", "-f"], options, allowPositionals: true }));
show(() => util.parseArgs({ args: ["-nvalue"], options }).values.name);
show(() => util.parseArgs({ args: ["--other"], options, strict: false }).values);
for (const args of [["--none"], ["--name"], ["--f=1"], ["a"]]) { try { util.parseArgs({ args, options }); } catch (e) { console.log(e.name, e.code); } }
show(() => require("os").constants.signals.SIGTERM);
show(() => typeof process.getBuiltinModule("fs").readFileSync);
show(() => require("module").isBuiltin("fs"));
