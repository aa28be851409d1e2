// The node driver: runs programs as node's REPL does and speaks frames on fd 3.
//
// Programs are evaluated by V8's own REPL mode through an in-process inspector
// session: const, let and class may be declared again, await works at the top
// level, and the value of the last expression comes back. Everything runs on
// the main thread; SIGINT ends what computes there.
//
// The files of this directory are one block of one script, this one first: a
// program sees none of their names.
const fs = require('fs');
const vm = require('vm');
const net = require('net');
const util = require('util');
const path = require('path');
const { Writable } = require('stream');
const { createRequire } = require('module');
const inspector = require('inspector');
const { promiseHooks } = require('v8');
const { AsyncLocalStorage } = require('async_hooks');

const CONTROL = 3;
const LIMIT = 48 << 20; // bytes of one show; the host refuses frames of 64 MiB
const MAX_ID = 1024, MAX_MIME = 256, MAX_BUNDLE = 64, MAX_METADATA = 64 << 10; // of a show
const MAX_ARGS = 48 << 20, MAX_CALLS = 4096; // of a call, and how many may be open
const MAX_MESSAGE = 64 << 10, MAX_STACK = 256 << 10; // of an error
// What a program calls the same is its own affair.
const {
  Buffer, setTimeout, setInterval, setImmediate, clearTimeout, clearImmediate, queueMicrotask, process, Error, TypeError, SyntaxError, JSON, Object, Number, String, Array, Set, Map, WeakSet,
  Promise, RegExp, Atomics, ArrayBuffer, SharedArrayBuffer, Uint8Array, Int32Array, BigInt, Math, Date, URL, Reflect,
} = globalThis;
// What programs replace there is not the driver's: pristine puts node's own back while
// the driver works.
const originals = [];
for (const [holder, names] of [
  [Array.prototype, ['push', 'pop', 'shift', 'map', 'filter', 'some', 'every', 'find', 'findIndex', 'forEach', 'join', 'slice', 'splice', 'includes', 'indexOf', 'concat', 'reverse', 'values', Symbol.iterator]],
  [Object.getPrototypeOf([][Symbol.iterator]()), ['next']],
  [String.prototype, ['split', 'replace', 'replaceAll', 'slice', 'startsWith', 'padStart', 'trim', 'includes', 'indexOf', 'match', 'charCodeAt', 'toLowerCase', Symbol.iterator]],
  [Function.prototype, ['call', 'apply', 'bind']], [Number.prototype, ['toString']], [RegExp.prototype, ['exec', 'test', Symbol.replace]],
  [Map.prototype, ['get', 'set', 'has', 'delete', 'clear']], [Set.prototype, ['add', 'has', 'delete']],
  [Object, ['keys', 'entries', 'fromEntries', 'assign', 'hasOwn', 'defineProperty', 'getOwnPropertyDescriptor']],
  [Buffer, ['from', 'concat', 'alloc', 'byteLength']], [JSON, ['parse', 'stringify']], [Array, ['isArray', 'from']],
]) {
  for (let i = 0; i < names.length; i++) originals[originals.length] = { holder, name: names[i], f: holder[names[i]] };
}
function pristine(f) {
  let changed = null;
  for (let i = 0; i < originals.length; i++) {
    const o = originals[i];
    if (o.holder[o.name] === o.f) continue;
    const was = o.holder[o.name];
    try { o.holder[o.name] = o.f; } catch { continue; } // it is frozen
    changed = { o, was, next: changed };
  }
  if (changed === null) return f();
  try {
    return f();
  } finally {
    for (; changed !== null; changed = changed.next) changed.o.holder[changed.o.name] = changed.was;
  }
}
const realExit = process.reallyExit.bind(process);

let seq = '', cell = 0, once = false, current = null, script = ''; // the name of the file that the program is
let shows = 0, stdinSet;
