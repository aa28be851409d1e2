package conformance

import (
	"errors"
	"fmt"
	"strings"
)

// A Report lists the clauses that a provider breaks.
type Report struct {
	Failures []Failure
	Tried    int // clauses that were tried, per language and way
	Exempt   int // clauses that do not concern the provider, by declaration
}

// A Failure is one broken clause.
type Failure struct {
	Group  string // such as "python/RunCode", empty for New and Close
	Check  string // the clause's name, such as "TimeoutSilent"
	Clause string // the sentence of the contract
	Err    error  // what was got and what was wanted
}

// Error returns the report, one failure per paragraph. What the goroutines
// were doing at the first case that hung is at its end.
func (r *Report) Error() string {
	var b strings.Builder
	var first *hang
	fmt.Fprintf(&b, "conformance: %d of %d checks failed (%d do not apply)", len(r.Failures), r.Tried, r.Exempt)
	for _, f := range r.Failures {
		b.WriteString("\n\n")
		if f.Group != "" {
			b.WriteString(f.Group + "/")
		}
		err := f.Err
		if h, ok := err.(*hang); ok {
			err = errors.New(h.summary())
			if first == nil {
				first = h
			}
		}
		b.WriteString(f.Check + ": " + report(f.Clause, err))
	}
	if first != nil {
		fmt.Fprintf(&b, "\n\nThe goroutines when %s did not return:\n%s", first.what, first.stacks)
	}
	return b.String()
}

func report(clause string, err error) string {
	return fmt.Sprintf("%v\n  contract: %s", err, clause)
}

// A Clause is a sentence of the contract and the name of the check behind it.
type Clause struct{ Check, Text string }

// Clauses lists the contract, by concern, with the invariants at the end.
func Clauses() []Clause {
	var list []Clause
	for _, c := range checks() {
		list = append(list, Clause{c.name, c.clause})
	}
	for _, inv := range invariants {
		list = append(list, Clause{inv.name, inv.clause})
	}
	return list
}
