// Package python runs CPython inside the host process, as an engine of package inmemory:
// nothing to install but a pack of 12 MB, a new context in a millisecond.
//
//	py, err := python.New(ctx, &python.Options{Pack: os.DirFS(dir)})
//	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{py}})
//	res, err := ci.RunCode(ctx, "python", "sum(range(10))", nil)
//
// A pack is CPython and its standard library, compiled to WebAssembly. Programs run as
// those of package subprocess do, by the same Python source: results, displays,
// tracebacks, top-level await, input, functions of the host. codeinterp.Forks copies a
// context with its variables, generators and open files, and Stateful.SaveContext of package
// inmemory writes one as an image. toolcell engine build
// makes a pack from sources, and package pack installs one.
//
// The science pack, which package science makes, has numpy, pandas, scipy, scikit-learn and
// matplotlib; Engine.Info says what differs from native ones.
//
// # Limits
//
//   - The standard library only, without ssl, ctypes, bz2, lzma, curses, sockets, threads
//     and child processes. Pure Python is three to five times slower than native.
//   - http.client and urllib reach what inmemory.Options.Network allows, with requests and
//     answers of 16 MiB at most. Other clients need sockets.
//   - The hashes of strings are the same in all contexts of an engine.
//   - Functions of math such as sin and log10 are musl's, which differ from glibc's in the
//     last digit now and then. Integers have 32 bits in sys.maxsize, and hashes too.
//   - A lock that its own thread takes twice ends the context, since no other thread can
//     free it.
//   - A program that has to end gets KeyboardInterrupt, and 40 ms of its own time to keep
//     its state. After that it is killed, and its context starts empty: Result.StateLost.
//   - Tasks that a run leaves go on in the next run that awaits something, not between.
//   - Limits.Memory bounds the memory of an instance, which begins with 16 MiB that are
//     shared with the others until it writes them; a context that has run something takes
//     0.8 MB. What is written of the 16 MiB is counted after a run, so that running programs
//     may exceed inmemory.Options.MaxMemory by that.
//   - What a program shows, or passes to a function, is copied: at most 64 MiB at a time.
//   - New compiles a pack for some seconds, unless Options.Cache has its native code.
//
// # Security
//
// A program cannot address the host's memory: it has one of its own, and reaches nothing
// but the functions for files in memory, clocks, randomness and requests of the driver.
// That holds as far as wazero's compiler is right. It is a wall for code that a model
// wrote, not that of a virtual machine for code of hostile tenants.
package python
