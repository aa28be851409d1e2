// Package conformance checks that a provider keeps the contract of package
// codeinterp: every outcome, every stream, every promise about state, time and
// clean-up, for each language that the provider offers.
//
// # Adopting it
//
// One test per constructor:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Config{
//			New:      func() (codeinterp.CodeInterpreter, error) { return myprovider.NewStateful(nil) },
//			Stateful: true,
//		})
//	}
//
//	func BenchmarkConformance(b *testing.B) { conformance.RunBenchmarks(b, cfg) }
//
// The suite brings its own programs for python, javascript, typescript and
// bash; [Config].Programs adds languages or replaces programs. Start with an
// empty Lacks and fix or declare until it is green. Outside of tests, [Check]
// returns the same findings as a readable error.
//
// # Declaring what a provider lacks
//
// Nothing is skipped because it failed. What a provider cannot do is listed in
// [Config].Lacks, for all languages or for one:
//
//	Lacks: []conformance.Feature{conformance.Processes, conformance.Values.In("bash")},
//
// A declared lack that works after all is a failure too, so the list stays
// true. What a language has no notion of (bash has no values) is an empty
// field of its [Programs]; the clauses that need the field do not concern that
// language.
//
// # Programs of other languages
//
// [Programs] says what each program is to do. The suite joins them with
// newlines, so each is a statement or more. The JavaScript ones keep to what
// every provider has beside the language: console, process.exit, env, cwd,
// stdout.write and stderr.write, setTimeout, top-level await, display(mime,
// data) with a string or, for binary types, a Uint8Array, and require("fs").
// The Python ones show objects with _repr_mimebundle_ through IPython's
// display.
//
// A new language starts with Print, PrintErr and Pause, and adds what it has a
// notion of. What a field is needed for:
//
//   - Comment, SyntaxError, Exit, Fail with FailName, FailLong, Raises,
//     MissingModule: how programs end, and what their errors say;
//   - Spin, Yielding, Stubborn, Flood, Repeating, Unending, Awaited: timeouts,
//     cancellation, interrupts, and what of a program may go on;
//   - Repeat and RepeatErr, Bytes, Split, Lines: output of every size, byte by
//     byte, within its limit;
//   - Set, Get, Has: everything about the state of contexts;
//   - Values, NoValue, Text, Number: values, and that callers get their own;
//   - Show and the Display programs: bundles, their order and their updates;
//   - ReadAll, ReadLine, GetEnv, Getwd, WriteFile, ReadFile, AppendForever: what
//     surrounds a program; with WriteFile and ReadFile also files, inputs and
//     artifacts, where Info.Files says that there are any;
//   - Recurse, Exhaust, HardExit, KillSelf, Child, Late: ends of processes, and
//     what outlives a run;
//   - Connect, Kill: what programs can reach;
//   - Call, CallCaught, CallSize, CallLoop, CallAll, CallThread, CallLeft and
//     CallWake, CallTask and CallTaskWake: functions of the host, where LanguageInfo.Functions says that
//     programs can call them.
//
// # Reading a failure
//
// Each failure names the clause, says what was got and what was wanted, and
// quotes the sentence of the contract that was broken, with the [Feature] by which
// [Config].Lacks says that the provider cannot do it, where there is one:
//
//	--- FAIL: TestConformance/python/RunInContext/TimeoutSilent
//	    status "error" (exit 1), want "timeout" (exit 124)
//	      contract: a run that exceeds RunOptions.Timeout ends as StatusTimeout, 124, with a nil error
//
// Subtests are grouped by what they concern: "interpreter" (once),
// "<language>/RunCode" and "<language>/RunInContext" (the same clauses both
// ways), "<language>/contexts", and "invariants": what must hold for each and
// every run that the suite made, whichever clause it belonged to. A case that
// hangs is given up after [Config].Timeout and reported with all goroutines;
// after a few of them the rest is not tried. Failures are printed as they are
// found, and one that comes again in another group takes a line. Checks that may
// end the process, since they let OnOutput panic, come last, below "last", and
// say so first.
//
// GeneratedPrograms runs programs that it makes up and compares their Results
// with a model's. Its failure shows a small program that fails, and the seed,
// which [Config].Seed takes to make the same programs again.
//
// # Limits
//
// Leaks and CPU time are counted per process: run the suite in a test that is
// not parallel to others. File descriptors, processes and CPU time are looked
// for in /proc; where there is none, and for programs on another machine, the
// checks that need them see nothing.
//
// # Slow providers
//
// Where a fresh state takes long to start (a Jupyter kernel: a second), set
// [Config].Thrifty: clauses that hold for RunCode and RunInContext alike are
// then tried in a shared context only, and fewer states are made at once.
// [Config].Patience says how late is too late. Where one provider is tested in
// several set-ups (modes of isolation, servers), one full pass and Thrifty passes
// with one language for the rest see as much in a fraction of the time;
// [Config].Brief shortens those further, and with [Config].Share they divide the
// clauses among them.
package conformance
