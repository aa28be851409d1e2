// Package codeinterp defines how an agent runs code: the interfaces that
// providers implement, the outcomes that all of them share, and what wraps
// around any of them.
//
//	ci, err := inmemory.NewStateful(nil)
//	...
//	res, err := ci.RunCode(ctx, "javascript", "1 + 1", nil)
//	fmt.Println(res.Text()) // 2
//
// # Two shapes
//
// A provider is a [CodeInterpreter]. One whose runtime keeps variables alive
// between runs is a [StatefulInterpreter] as well, and may be a
// [ContextManager]. A capability is there exactly when the methods are there:
// no method answers "unsupported". [Stateful] and [Manager] read presence,
// [Stateless] hides it on purpose.
//
// # Results and errors
//
// A program that fails is a [Result] with a nil error: an exception, a syntax
// error, a timeout, a process that died. An error means that the system failed
// or that the call was wrong, and is an [*Error] around one of the sentinels,
// or around the cause of the caller's own ctx. Whatever the program put out
// before the end is in the Result in both cases; what is missing from it is
// told in Result.Truncated.
//
// # Streaming
//
// RunOptions.OnOutput sees output while the program runs. [Stream] turns that
// around into a range loop.
//
// # Wrapping
//
// Interpreters are not wrapped by embedding, which drops capabilities or lets
// calls slip past; [Wrap] puts a [Middleware] around every operation and keeps
// the capabilities. [Log], [Limit] and [Approve] are middlewares.
//
// # Writing a provider
//
// Return concrete types from two constructors, New and NewStateful; call
// [ResolveLanguage], [CheckRun] and [CheckContext] on entry; return [NotRun]
// with every error that kept the program from starting; wrap errors once; and
// run the conformance suite, which tests every sentence of this package's
// contract.
package codeinterp
