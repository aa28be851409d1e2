// Package driver is what a runtime implements to become a provider. The
// runtime starts sessions and runs one program at a time in each; the driver
// does the rest of the contract: it checks the input, queues the runs of a
// context, enforces timeouts, interrupts and kills, turns outcomes into Results,
// reports lost state once, keeps late output, and closes everything.
//
// # Writing a runtime
//
// A runtime has three methods, a session four. The smallest provider without
// contexts starts a process in Session.Run, writes what it prints to the Output,
// kills it when ctx is done, and returns its exit code:
//
//   - Runtime.Start returns a session; with Options.Once it runs one program.
//   - Session.Run prepares a state, calls Program.HandOver with the function that
//     hands the program to the runtime (or Program.Begin without one), writes
//     output, and returns an Outcome.
//   - Session.Interrupt delivers an interrupt, or returns errors.ErrUnsupported:
//     then the program is killed at once.
//   - Session.Reset ends the state; the next Run starts an empty one.
//   - Session.Close ends the session.
//
// A provider embeds what [New] and [NewStateful] return in two concrete types of
// its own, with a constructor for each, and proves itself with package
// conformance. Only languages whose LanguageInfo.Contexts is set have contexts.
//
// Optional interfaces of a runtime are [Filer] for files and artifacts, [Commander] for
// a shell, [Completer] for completion, and [Attacher] for states that outlive the
// process. Programs of a language with LanguageInfo.Functions call functions by
// Program.Call; those with LanguageInfo.Input read Program.Input.
//
// # What the driver promises to a session
//
//  1. The driver alone stops programs. One goroutine for each run decides, in one
//     select, among the timeout, the caller's ctx, orders, and the end of the
//     context. A session never looks at a clock or at a reason.
//  2. A timeout, the end of the caller's ctx and InterruptContext are soft:
//     Interrupt; half of Config.Grace later Interrupt again, from when on nothing
//     waits for OnOutput; after the grace the end of Run's ctx. Restart, deletion
//     and Close are hard: the end of Run's ctx at once, also within the grace.
//     Config.Patience after the end of its ctx a method is given up with its
//     session, the error says that the program may still be running, and the
//     next run starts another session.
//  3. Before Program.Begin there is nothing to interrupt: a stop ends ctx, an
//     InterruptContext waits for Begin, and after a restart the run goes on in
//     the empty state.
//  4. StateLost is reported once: for Outcome.Lost, and for Outcome.Fresh if the
//     loss was not reported. A session need not remember what was reported. The
//     driver knows that a session that it has started or reset is empty.
//  5. A run's state is settled, and delete, restart and Close return, before its
//     OnOutput is waited for. So all of them may be called from OnOutput.
//  6. Run, Reset and Close are never called at the same time for one session;
//     Interrupt comes beside Run only, and not once Program.End has returned. No
//     lock of the driver is held during a call.
//  7. Calls of functions end, as Program.Call says, when the run is about to be
//     stopped or has ended, before the interrupt. The run returns after the
//     functions, or after Config.Patience if they ignore their ctx.
//  8. In return a method that has returned leaves no goroutine behind that touches
//     the session or the output.
//
// # Traps
//
//   - An interrupt can come right after Begin. If the program is handed over after
//     that, use HandOver: interrupts wait for it.
//   - Reset must only end. Starting in Reset has no caller's ctx, and a restart would
//     wait for it.
//   - A Write to the Output waits for OnOutput. Session.Run must not hold a lock
//     meanwhile that Interrupt needs.
//   - Read from a program with a bound and a deadline. A missing reply is
//     Outcome.Unknown, never ExitCode 0.
//   - Call Program.End when the program ends before its output was taken, or its
//     Duration includes the time of OnOutput, and a timeout meanwhile is reported
//     as the program's. Call it before what an interrupt would hit is somebody
//     else's, such as a process id: without it one can come when Run has returned.
//   - A program that cannot start by its own fault, such as a syntax error, has
//     begun and failed: Begin, then an Outcome with an Error. An error of Run is
//     for a runtime that cannot run anything.
//   - In tests with testing/synctest, blocking calls under a sync.Mutex stop the
//     clock. The driver holds none.
package driver
