package conformance

import (
	"fmt"
	"path"
	"strings"
)

// A Report lists the clauses that a provider breaks.
type Report struct {
	Failures []Failure
	Tried    int // clauses that were tried, per language and way
	Exempt   int // clauses that do not apply to the provider
}

// A Failure is one broken clause.
type Failure struct {
	Group  string // such as "python/RunCode", empty for New and Close
	Check  string // the clause's name, such as "TimeoutReached"
	Clause string // the sentence of the contract
	Err    error  // what was got and what was wanted
	// Feature is what a provider that cannot do this declares in Config.Lacks;
	// empty if there is no such feature.
	Feature Feature
}

// String describes the failure in a paragraph.
func (f Failure) String() string { return path.Join(f.Group, f.Check) + ": " + f.text() }

// text describes the failure without its name.
func (f Failure) text() string {
	text := fmt.Sprintf("%v\n  contract: %s", f.Err, f.Clause)
	if f.Feature != "" {
		text += "\n  feature: " + string(f.Feature)
	}
	return text
}

// Error returns the report, one failure per paragraph.
func (r *Report) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "conformance: %d of %d checks failed (%d do not apply)", len(r.Failures), r.Tried, r.Exempt)
	for _, f := range r.Failures {
		b.WriteString("\n\n" + f.String())
	}
	return b.String()
}

// A Clause is a sentence of the contract and the name of the check behind it.
type Clause struct {
	Check string
	Row   int // of the contract's table; 0 for the README's tables
	Text  string
}

// Clauses lists the contract, by concern, with the invariants at the end.
func Clauses() []Clause {
	var list []Clause
	for _, c := range checks() {
		list = append(list, Clause{c.name, c.row, sentence(c.row, c.clause)})
	}
	for _, inv := range invariants {
		list = append(list, Clause{inv.name, inv.row, sentence(inv.row, inv.clause)})
	}
	return list
}

// sentence puts the row of the contract before a clause.
func sentence(row int, clause string) string {
	if row == 0 {
		return clause
	}
	return fmt.Sprintf("row %d: %s", row, clause)
}
