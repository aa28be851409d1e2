// Package quickjs is the JavaScript engine of providers/inmemory: QuickJS,
// translated to Go by modernc.org/libquickjs. It needs a little-endian 64-bit
// machine; elsewhere its instances are ErrUnavailable.
//
//	ci, err := inmemory.New(&inmemory.Options{Engines: []engine.Engine{quickjs.New(nil)}})
//
// The runtime's JavaScript is in lib: a file is a script, and so is a folder, its
// files being joined in the order of their names.
//
// # What programs find
//
// The language is ES2023. Intl, toLocaleString and its siblings, and
// localeCompare know en-US, with every time zone, and throw a RangeError for
// any other locale and for options that they do not have: NumberFormat,
// DateTimeFormat, Collator, PluralRules, ListFormat and RelativeTimeFormat are
// there, Segmenter and DisplayNames are not. As in node or a browser there are
// console (formatted as by node's util.inspect), setTimeout and its siblings,
// queueMicrotask, URL, URLSearchParams, TextEncoder, TextDecoder,
// structuredClone, atob, btoa, Event, EventTarget, AbortController,
// performance, crypto (random values, UUIDs, digests), process (argv, env,
// exit, stdin, stdout and the like) and Buffer.
//
// require and import know assert, buffer, console, crypto (hashes, HMACs,
// random numbers), events, fs and fs/promises on the file system in memory,
// module, os, path, perf_hooks, process, querystring, readline, stream,
// string_decoder, timers, url, util and zlib (without Brotli), as far as that
// goes without the host, and JavaScript and JSON files. Any other module is missing, which ProgramError.MissingModule tells.
//
// Rich output:
//
//	display("text/html", "<b>bold</b>");
//	display("image/png", bytes);                     // a Uint8Array, or base64
//	display({"text/plain": "x", "text/html": html}); // one bundle
//	display("text/plain", "0 %", {id: "progress"});
//	updateDisplay("progress", "text/plain", "50 %");
//	clearOutput();
//
// # Functions of the host
//
// Where a run has functions, tools has a method for each, which takes one object
// and returns a promise of the result:
//
//	const w = await tools.get_weather({city: "Oslo"});
//
// One that fails rejects with a ToolError, whose tool is the function's name. The
// end of the run waits for calls as it does for timers. At most 10,000 can be open
// at once. A program may use the names tools and ToolError for something else;
// without functions they are undefined.
//
// # Results
//
// The text of a result is what node's util.inspect returns, and a string is
// shown as it is. It has a JSON form where that says the same: numbers other
// than NaN, the infinities and -0, well-formed strings, booleans, null, arrays
// without holes, and objects of such values. A class's instance counts as the
// object of its fields.
//
// # Redeclaration
//
// Programs are compiled as they are. What they declare again is bound, in the
// compiled code, to the variable that exists, so that functions of earlier
// programs see the new value. A program that fails before it sets such a
// variable leaves its old value in place. A program with import or export
// declarations, which is no script, is rewritten to dynamic imports.
//
// # Limits
//
// QuickJS itself gives wrong values in three places. A closure that captures
// the variable of a for (let ...) loop sees that of a later round where the
// body uses continue. Closures over what a try block in a loop declares share
// it once an exception was caught there. And for await calls return() of an
// iterator that has ended. LanguageInfo.Notes tells models of the first two.
// Recursion ends after some 4,000 calls, in an InternalError, and messages of
// TypeErrors name no property ("not a function").
//
// Stack traces name the frames of the sources only; err.stack, read by a
// program itself, has the engine's own form without the message, and for TypeScript positions of
// the translated program. Math.random is seeded per context and not meant for
// secrets. A program has at most 100,000 timers.
//
// A program is asked whether to go on at its calls and loop iterations, and a
// regular expression while it matches. What is one step of the engine is not:
// parsing a source, compiling a regular expression, walking through an
// array-like or a sparse array (sort, fill, indexOf, splice, join, concat and
// the like), parsing or writing one large JSON text, splitting, searching,
// comparing, normalizing or encoding one long string, arithmetic of large
// BigInts, copying or digesting a large buffer, showing a large value, and
// freeing a long chain of objects. A run that is stopped in one of them, and
// needs more than 40 ms of the processor to end it, loses the state of its
// context.
//
// # Security
//
// The engine's memory lies outside of Go's heap. Faults become panics that end
// the instance; writes to where other memory is do not fault.
package quickjs
