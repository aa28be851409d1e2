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
// any other locale (toLocaleLowerCase and toLocaleUpperCase for those alone whose
// letters differ) and for options that they do not have: NumberFormat,
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
// goes without the host, and JavaScript and JSON files. A file that is imported and is
// called .js is a CommonJS module unless it has declarations or an await that only
// modules have, or the next package.json says "type": "module". It can be imported by the
// names of all properties of module.exports, of which node sees some, and by those that
// are assigned to exports anywhere in it. import takes file: URLs too, and a query or
// fragment behind a file's name makes it another module. Any other module is missing, which
// ProgramError.MissingModule tells.
//
// A module that is not evaluated when a run fails, exits or is stopped is evaluated anew when
// it is imported again; at the end of any other run it goes on waiting. A file that could not
// be loaded is read again, and one that threw is not.
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
// # Functions of the host
//
// Where a run has functions, tools has a method for each, which takes one object
// and returns a promise of the result:
//
//	const w = await tools.get_weather({city: "Oslo"});
//
// One that fails rejects with a ToolError, whose tool is the function's name and whose
// message begins with it, as in "get_weather: no such city". The
// end of the run waits for calls as it does for timers. At most 4,096 can be open
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
// declarations, which is no script, is rewritten to dynamic imports; what it
// exports stays its own, and the names that it imports are constants with the values
// of then: they do not follow what the module assigns later, but m.name of an
// import * as m does. In JavaScript a name that the module does not export is a
// SyntaxError where the import is, before what follows it has run.
//
// # Beside node
//
// What programs are most likely to meet, each checked by a test: as in node
// (=), not there or refused, which the program can see (told), or other than in
// node without a word (differs).
//
//	 1  numbers in a locale           = for en-US, other locales told
//	 2  dates in a locale, as text    = for en-US, other locales told
//	 3  localeCompare                 = for en-US, other locales told
//	 4  closures in for (let), continue    differs, see Limits
//	 5  closures in try in a loop          differs, see Limits
//	 6  for await and return()        =, but differs in eval and new Function
//	 7  process.nextTick              =
//	 8  WeakRef within a run          =
//	 9  Error.stack                   =, but a message that is set later differs
//	10  Intl                          =, without Segmenter and DisplayNames, told
//	11  deep recursion                RangeError as in node, at some 4,000 calls
//	12  Error.captureStackTrace       =, prepareStackTrace is ignored (differs)
//	13  iterator helpers ended early  = (node 22)
//	14  require of stream and others  =, without async_hooks, child_process, http,
//	                                  vm, worker_threads and the like, told
//	15  fetch, Blob, web streams      told
//	16  /tmp                          = in the file system in memory
//	17  Array.fromAsync              = (node 22), using and Temporal told
//	18  module, exports, __filename   =
//	19  messages of TypeErrors        = for the usual ones, see Limits
//	20  JSON.parse, reduce of []      =
//	21  {...'abc'}                    differs, see Limits
//
// Of test262 a sample of the project's own, by its sections, runs with the tests;
// all of it runs by make test262.
//
// # Limits
//
// Completions know nothing behind a getter or a proxy; process, Buffer and their like
// are getters until a program has used them.
//
// QuickJS itself gives wrong values in four places. A closure that captures
// the variable of a for (let ...) loop sees that of a later round where the
// body uses continue. Closures over what a try block in a loop declares share
// it once an exception was caught there. A string that is spread into an object,
// {...'abc'}, adds nothing to it. LanguageInfo.Notes tells models of these. And for
// await calls return() of an iterator that has ended, and does not await it where the
// loop is left by break, return or throw. So programs with such loops, and files with
// some that they import, are rewritten: toString of their functions shows what is
// written around the loops. What eval and new Function compile is not. Recursion
// ends after some 4,000 calls, in a RangeError as in node, which has room for three
// times that.
//
// Errors that the engine raises have the words of node's where they have a
// counterpart. They differ in these: what is destructured or iterated is named
// only where it is a plain name, properties that are read-only or cannot be
// added or deleted are not named with their object, a circular structure is not
// described, what is no object, generator or Date is not named, and syntax errors
// and faults in regular expressions are mostly the engine's own. A stack has the
// error's first line and the frames of the sources, without those of built-ins
// and of constructors of the error's classes that call super, at most Error.stackTraceLimit.
// The line of an error and, for the usual ways to fail, the column of its first
// frame are node's, but where a class has no constructor of its own or a
// statement goes over several lines; in the other frames it is that of the call's parenthesis. A
// character beyond U+FFFF counts as one column.
//
// Where the right side of an assignment declares the name on its left by a direct
// eval, in code that is not strict, the new variable is set, as in node; ECMA-262
// means the other.
//
// In code given to eval, a function may bear the name of a let, const or class beside
// it, which node refuses. One that a block declares may not bear the name of a let, const or
// class outside of the block: that is a ReferenceError where the block begins.
//
// Streams take whatever is written to them: pipe waits for nobody, drain comes seldomer
// than in node, and chunks may be joined otherwise. url.resolve resolves as URL does. With showHidden, inspect lists no Symbol.toStringTag
// and Symbol.species, and of functions no arguments and caller.
//
// Handlers of exit are called by process.exit and at the end of RunCode, also where
// an error is that, which stays the run's, not at a run's end in a context, which is no end of a process; those of beforeExit at each.
//
// An object that only a WeakRef has is there until the run ends, if it is one
// of the latest 1,000, and nothing hears of its end. Math.random is seeded per
// context and not meant for secrets. A program has at most 100,000 timers.
//
// Nothing of a program runs once it has ended. What then still waits for a promise
// of the program's own goes on when a later program of the context settles that:
// it is part of that one, as a function that it calls would be, and what it calls
// of the host's functions are that one's calls.
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
