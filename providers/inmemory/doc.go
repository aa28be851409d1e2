// Package inmemory runs code in engines that are part of the host program:
// nothing to install, contexts that cost microseconds.
//
//	ci, err := inmemory.NewStateful(nil) // JavaScript
//	res, err := ci.RunCode(ctx, "javascript", "[1, 2, 3].map((x) => x * x)", nil)
//
// TypeScript is a second engine on top of the first, in a package of its own,
// so that only programs that ask for it link its compiler:
//
//	js := quickjs.New(nil)
//	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
//
// Other languages are further implementations of engine.Engine.
//
// # Programs
//
// A context is a REPL: variables, functions and classes are there for later
// runs and may be declared again, await works at the top level, and the value
// of the last expression is the result. See package quickjs for what programs
// find around them.
//
// A run is over when its program is done and nothing that it started is left:
// it waits for timers and promises, as node does. What never ends, an interval
// for example, is ended by the run's timeout or its ctx; without either, the
// run does not return. Nothing of a run goes on after it.
//
// Every context, and every stateless run, has a file system of its own in
// memory, unless Options.Shared is one for all; package workspace/memory puts it
// beside tools for files. codeinterp.Files opens that of a context to Go code.
//
// # Stopping
//
// A program is told to stop when its timeout runs out, its ctx ends or its
// context is interrupted. It then ends at its next call or loop iteration and
// its context keeps its variables. A program that is inside one long built-in
// operation gets 40 ms of the processor to get out of it; then the engine's
// memory is taken away from under it, and the context starts empty on its next
// run, which Result.StateLost tells. That ends everything that QuickJS can do,
// within 100 ms on a machine that is not busy elsewhere; package quickjs names
// the operations that it may take that for. What is done in Go for a program, such
// as unpacking or quoting, cannot be ended so: it is done in pieces, with a look in
// between whether the run is to end.
//
// A run that is stopped ends as what stopped it, StatusTimeout for example; an
// engine that did not end by itself costs the state, not the reason. An engine of
// another make that does not stop at all is abandoned after ten seconds: the run
// returns with an error that says that the program may still be running, and
// [Stateful.Abandoned] and Describe count it. At Options.MaxAbandoned every further
// run is refused with ErrCapacity.
//
// # Sharing
//
// At most Options.MaxRunning programs compute at the same time; the others
// wait in line, which does not count towards their timeouts. A program that
// computes for long lets those go first that wait, every 10 ms. Programs that
// sleep or wait for a function of the host, or whose OnOutput takes long, hold
// nobody up. Small writes that
// follow each other within a millisecond come as one output.
//
// # Limits
//
// Options.Limits.Memory bounds what one context takes, exactly, and
// Options.MaxMemory all of them together. Beside it a running program may take
// up to 16 MiB of goroutine stack, 32 MiB of frames, the output that its Result
// keeps, with a copy or two of what is printed at once, and its files up to
// Options.Files. What the engine's Go code makes of a program's values, such as
// texts to print or to parse, may take as much again as Limits.Memory, and counts
// in MaxMemory, as long as the call lasts that makes it; so may the arguments of
// open calls, and where these were made. Results of functions that it has not taken
// yet count in MaxMemory. All of these lie in Go's heap, which gives back what is
// no longer used when it is collected. A context that has run something takes about
// 200 KiB.
//
// # Security
//
// There is no isolation to speak of. Programs reach no files, network,
// environment, processes or signals of the host, since the engine has no
// functions for them. But the engine is C translated to Go, which works on raw
// memory of the host process: a memory error in it that a program can make use
// of is one in the host. A fault is contained, arbitrary writes are not. Run
// here only what you would run yourself, such as code of a model that you
// trust, and use package subprocess or jupyter for the rest.
package inmemory
