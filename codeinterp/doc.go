// Package codeinterp defines how an agent runs code: the interfaces that providers
// implement, the outcomes that all of them share, and what wraps around any of them.
//
//	ci, err := inmemory.NewStateful(nil)
//	...
//	res, err := ci.RunCode(ctx, "javascript", "1 + 1", nil)
//	fmt.Println(res.Text()) // 2
//
// # Two shapes
//
// A provider is a [CodeInterpreter]. One whose runtime keeps variables alive between runs
// is a [StatefulInterpreter] as well. A capability is there exactly when the methods are
// there: no method answers "unsupported". [Stateful] finds out, and [Stateless] leaves them
// out on purpose.
//
// What else a provider may be able to do comes in groups of methods, each with an accessor
// that finds it, also through [Wrap]: [Manager] returns the [ContextManager], [Files] what
// opens the directories of contexts, [Commands] the shell, [Completions] what completes
// code that is being typed, [Pauses] what stops all programs for a while.
//
// # Results and errors
//
// A program that fails is a [Result] with a nil error: an exception, a syntax error, a
// timeout, a process that died. An error means that the system failed or that the call was
// wrong, and is an [*Error] around one of the sentinels, or around the cause of the
// caller's own ctx. Whatever the program put out before the end is in the Result in both
// cases; Result.Truncated says what is missing from it.
//
// # Streaming
//
// RunOptions.OnOutput sees output while the program runs. [Stream] turns that around into a
// range loop.
//
// # Functions
//
// RunOptions.Functions and ContextOptions.Functions are functions of the host that programs
// can call, in languages whose LanguageInfo says so. Result.Calls lists the calls, and each
// goes through the middlewares as [OpCallFunction].
//
// # Files
//
// RunOptions.Files and ContextOptions.Files are copied to where programs start,
// RunOptions.Artifacts asks for what a run created or changed there, and [Files] opens the
// directory of a context. [Info].Files says whether a provider has this.
//
// # Wrapping
//
// Interpreters are not wrapped by embedding, which drops capabilities or lets calls slip
// past; [Wrap] puts a [Middleware] around every operation and keeps the capabilities.
// [Narrow] leaves some out. [Log], [Limit] and [Approve] are middlewares. Those that guard
// go by the traits of an [Op], so that they hold for operations of groups that they do not
// know.
//
// # Writing a provider
//
// Package driver does most of it: a runtime implements two small interfaces there, and gets
// checks, contexts, queues, timeouts and outcomes. Return concrete types from two
// constructors, New and NewStateful, and run package conformance, which tests every
// sentence of this package's contract.
//
// A provider whose optional groups depend on what it is made of has a method As(target any)
// bool, which fills the pointer to a group's interface.
package codeinterp
