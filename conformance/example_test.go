package conformance_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
)

// open stands for a provider's constructor.
func open() (codeinterp.CodeInterpreter, error) {
	return nil, errors.New("no interpreter on this machine")
}

// The whole adoption: one call in a test function of the provider's package.
func ExampleRun() {
	var t *testing.T // the test function's own
	conformance.Run(t, conformance.Config{
		New:      open,
		Stateful: true,
		Lacks:    []conformance.Feature{conformance.Processes, conformance.Values.In("bash")},
	})
}

// A language that differs from the suite's programs in one point.
func ExampleProgramsFor() {
	p, ok := conformance.ProgramsFor("python")
	p.Stubborn = "" // this runtime has no signals to ignore
	cfg := conformance.Config{New: open, Programs: map[string]conformance.Programs{"python": p}}
	fmt.Println(ok, len(cfg.Programs))
	// Output: true 1
}

func ExampleFeature_In() {
	fmt.Println(conformance.Values.In("bash"))
	// Output: Values@bash
}

// The contract, sentence by sentence.
func ExampleClauses() {
	for _, c := range conformance.Clauses() {
		if c.Check == "TimeoutExact" || c.Check == "CallbacksSerial" {
			fmt.Printf("%s: %s\n", c.Check, c.Text)
		}
	}
	// Output:
	// TimeoutExact: row 11: a timeout is kept to the millisecond, and not rounded
	// CallbacksSerial: calls of OnOutput are serial
}
