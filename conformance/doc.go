// Package conformance checks that a provider keeps the contract of package codeinterp, for
// each language that the provider offers.
//
// # Adopting it
//
// One test per provider:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Config{
//			New:      func() (codeinterp.CodeInterpreter, error) { return myprovider.NewStateful(nil) },
//			Stateful: true,
//		})
//	}
//
// The suite has programs for python, javascript, typescript and bash; [Config].Programs
// adds languages or replaces programs. Start with an empty Lacks.
//
// # Declaring what a provider lacks
//
// Nothing is skipped because it failed. What a provider cannot do is listed in
// [Config].Lacks, for all languages or for one:
//
//	Lacks: []conformance.Feature{conformance.Processes, conformance.Values.In("bash")},
//
// A declared lack that works is a failure too, so the list stays true. What a language has
// no notion of (bash has no values) is an empty field of its [Programs]; the clauses that
// need the field do not apply to that language.
//
// # Programs of other languages
//
// [Programs] says what each program has to do. The suite joins them with newlines, so each
// is one or more statements. A new language starts with Print, PrintErr and Pause. Set, Get
// and Has bring the clauses about state; Exit, Fail, Spin, Stubborn, Flood and SyntaxError
// those about how programs end; WriteFile and ReadFile those about files; Call and its
// siblings those about functions of the host.
//
// # Reading a failure
//
// A failure names the clause, says what was got and what was wanted, and quotes the
// sentence of the contract with its row, and the [Feature] that a provider declares that
// cannot do it:
//
//	--- FAIL: TestConformance/python/RunInContext/TimeoutReached
//	    status "error" (exit 1), want "timeout" (exit 124)
//	      contract: row 6: a run that exceeds RunOptions.Timeout ends as StatusTimeout, 124, with a nil error
//
// Subtests are grouped: "interpreter" (once), "<language>/RunCode",
// "<language>/RunInContext" (clauses about every run, by RunCode if there are no contexts),
// "<language>/contexts", and "invariants", which hold for every run of the suite.
// GeneratedPrograms compares random programs with a model; its failure shows a small
// program and the seed for [Config].Seed.
//
// # Limits
//
// The suite does not see what only a provider, the tools or the driver can show, such as a
// server that goes away or the text for a model. Do not run it parallel to other tests:
// leaks and CPU time are counted per process, in /proc, and not at all without it.
package conformance
