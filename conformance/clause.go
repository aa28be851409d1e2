package conformance

import "fmt"

// A failure is one broken clause.
type failure struct {
	check  string // the clause's name, such as "TimeoutReached"
	clause string // the sentence of the contract
	err    error  // what was got and what was wanted
	// feature is what a provider that cannot do this declares in Config.Lacks;
	// empty if there is no such feature.
	feature Feature
}

func (f failure) text() string {
	text := fmt.Sprintf("%v\n  contract: %s", f.err, f.clause)
	if f.feature != "" {
		text += "\n  feature: " + string(f.feature)
	}
	return text
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
