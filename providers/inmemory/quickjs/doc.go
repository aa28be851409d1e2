// Package quickjs is the JavaScript engine of providers/inmemory: QuickJS, translated to Go
// by modernc.org/libquickjs. It needs a little-endian 64-bit machine; elsewhere its
// instances are ErrUnavailable.
//
//	ci, err := inmemory.New(&inmemory.Options{Engines: []engine.Engine{quickjs.New(nil)}})
//
// # What programs find
//
// The language is ES2023 with Array.fromAsync. There are console (formatted as by node's
// util.inspect), timers, queueMicrotask, URL, URLSearchParams, TextEncoder, TextDecoder,
// structuredClone, atob, btoa, Event, EventTarget, AbortController, performance, crypto
// (random values, UUIDs, digests), process and Buffer. Intl and the methods toLocaleString
// know en-US and the time zones of the machine; where it has none, as many containers and
// Windows, the host program imports time/tzdata.
//
// require and import know assert, buffer, console, crypto (hashes, HMACs, random numbers),
// events, fs and fs/promises on the file system in memory, module, os, path, perf_hooks,
// process, readline, stream, string_decoder, timers, tty, url, util and zlib, dns (which
// finds no names), and JavaScript and JSON files. A .js file is a CommonJS module unless it
// has declarations or an await that only modules have. Any other module is missing:
// ProgramError.MissingModule.
//
// A program with import or export declarations is strict, as a module is, and in a context
// what it declares stays. The names that it imports are constants with the values of that
// moment.
//
// Rich output:
//
//	display("text/html", "<b>bold</b>");
//	display("image/png", bytes);                     // a Uint8Array, or base64
//	display({"text/plain": "x", "text/html": html}); // one bundle
//	display(value);                                  // anything else, as text/plain
//	display("text/plain", "0 %", {id: "progress"});
//	updateDisplay("progress", "text/plain", "50 %");
//	clearOutput();
//
// Where a run has functions, tools has a method for each, which takes one object and
// returns a promise of the result. One that fails rejects with a ToolError. The end of the
// run waits for calls as it does for timers; at most 4,096 can be open at once.
//
//	const w = await tools.get_weather({city: "Oslo"});
//
// # Results
//
// The text of a result is what node's util.inspect returns, and a string is shown as it is.
// It has a JSON form if that says the same. The value of a context's last program is in _,
// unless programs have a _ of their own.
//
// # Limits
//
//   - Of Intl are here NumberFormat, DateTimeFormat, Collator and PluralRules for en-US.
//     Other locales and options are a RangeError.
//   - Recursion ends after some 4,000 calls, in a RangeError. A program has at most 100,000
//     timers.
//   - util.inspect reads depth, breakLength, compact, maxArrayLength and maxStringLength.
//   - Errors have the engine's words, and stacks at most ten frames. The column of a
//     frame is the engine's, often that of a call's parenthesis.
//   - In String(n), templates and JSON, some powers of two have one digit more than needed;
//     console.log and results are right.
//   - In code that is not strict, a function that a block declares twice, or assigns to,
//     has its first value behind the block. Closures in the defaults of parameters see
//     the first value of a parameter that the body declares again.
//   - url.parse and its kin, querystring, path.win32, ciphers, signatures, derived keys,
//     marks of performance and symbolic links are missing.
//   - fetch unless the provider has an egress policy; Blob, ReadableStream and its kin,
//     Temporal, using, async_hooks, child_process, http, vm and worker_threads are missing.
//   - Finalizers are not called, and an object that only a WeakRef refers to is gone at
//     once.
//   - Nothing of a program runs once it has ended. What still waits for a promise goes on
//     when a later program of the context settles that, as a part of that one.
//   - A program is stopped at its calls, loops and while a regular expression matches. A
//     single step of the engine (sorting, parsing, BigInt arithmetic or copying of
//     something large) is not interrupted: a run that is stopped in one, and needs more
//     than 40 ms of the processor to end it, loses the state of its context.
//
// # Security
//
// The engine's memory lies outside of Go's heap. Faults become panics that end the
// instance; writes to where other memory is do not fault.
package quickjs
