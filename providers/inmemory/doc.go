// Package inmemory runs code in engines that are part of the host program:
// nothing to install, contexts that cost microseconds.
//
//	ci, err := inmemory.NewStateful(nil) // JavaScript
//	res, err := ci.RunCode(ctx, "javascript", "[1, 2, 3].map((x) => x * x)", nil)
//
// TypeScript is a second engine on top of the first:
//
//	js := quickjs.New(nil)
//	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
//
// # Programs
//
// A context is a REPL: variables, functions and classes are there for later
// runs and may be declared again, await works at the top level, and the value
// of the last expression is the result. See package quickjs for what programs
// find around them.
//
// A run is over when its program is done and nothing that it started is left: it waits
// for timers and promises, as node does. What never ends is ended by the run's timeout or
// its ctx. Nothing of a run goes on after it.
//
// Every context, and every stateless run, has a file system of its own in memory,
// unless Options.Shared is one for all. codeinterp.Files opens it to Go code.
//
// # Limits
//
//   - A stopped program (timeout, ctx, interrupt) ends at its next call or loop iteration,
//     and its context keeps its variables. One that is inside a long built-in operation gets
//     40 ms of the processor; then the engine's memory is revoked, and the context starts
//     empty on its next run: Result.StateLost.
//   - An engine of another make that does not stop at all is abandoned after ten seconds:
//     the run's error says that the program may still be running, and [Stateful.Abandoned]
//     counts it. At Options.MaxAbandoned every further run is ErrCapacity.
//   - At most Options.MaxRunning programs compute at the same time; the others wait, which
//     does not count towards their timeouts. A program that computes for long lets others
//     compute every 10 ms; one that sleeps or waits holds up none.
//   - Options.Limits.Memory bounds what one context takes, Options.MaxMemory all of them,
//     and Options.Files the files of each. What Go code makes of a program's values counts
//     in MaxMemory and may take as much again as Limits.Memory. Beside these a running
//     program takes up to 16 MiB of goroutine stack, 32 MiB of frames and the output of its
//     Result. A context that has run something takes about 200 KiB.
//
// # Security
//
// Programs reach no files, network, environment, processes or signals of the host, since
// the engine has no functions for them. But the engine is C translated to Go, which works
// on raw memory of the host process: a memory error in it is one in the host. A fault is
// contained, arbitrary writes are not. Run here only code that you trust, and use package
// subprocess or jupyter for the rest.
package inmemory
