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
// # Reading a failure
//
// Each failure names the clause, says what was got and what was wanted, and
// quotes the sentence of the contract that was broken:
//
//	--- FAIL: TestConformance/python/RunInContext/TimeoutSilent
//	    status "error" (exit 1), want "timeout" (exit 124)
//	      contract: a run that exceeds RunOptions.Timeout ends as StatusTimeout, 124, with a nil error
//
// Subtests are grouped by what they concern: "interpreter" (once),
// "<language>/RunCode" and "<language>/RunInContext" (the same clauses both
// ways), "<language>/contexts", and "invariants": what must hold for each and
// every run that the suite made, whichever clause it belonged to. A case that
// hangs is given up after [Config].Timeout and reported with all goroutines.
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
// [Config].Patience says how late is too late. Where one provider is tested in several set-ups
// (modes of isolation, servers), one full pass and Thrifty passes with one
// language for the rest see as much in a fraction of the time.
package conformance
