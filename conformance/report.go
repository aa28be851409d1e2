package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Report lists the clauses that a provider breaks.
type Report struct {
	Failures []Failure
	Tried    int // clauses that were tried, per language and way
	Exempt   int // clauses that do not concern the provider, by declaration
	Untried  int // clauses that were left out after several that did not return
}

// A Failure is one broken clause.
type Failure struct {
	Group  string // such as "python/RunCode", empty for New and Close
	Check  string // the clause's name, such as "TimeoutSilent"
	Clause string // the sentence of the contract
	Err    error  // what was got and what was wanted
	// Feature is what a provider that cannot do this declares in Config.Lacks;
	// empty if there is no such feature.
	Feature Feature
	// Like is the group in which the same check failed before in the same way.
	Like string
}

// String tells the failure in a paragraph, or in a line where it is like an
// earlier one. It leaves out what the goroutines were doing at a hang.
func (f Failure) String() string {
	name := f.Check
	if f.Group != "" {
		name = f.Group + "/" + f.Check
	}
	if f.Like != "" {
		return name + ": the same as in " + f.Like
	}
	return name + ": " + f.report(summary(f.Err))
}

// text is what a test reports.
func (f Failure) text() string {
	if f.Like != "" {
		return "the same as in " + f.Like
	}
	return f.report(f.Err)
}

// summary leaves out the goroutines of a hang.
func summary(err error) error {
	if h, ok := err.(*hang); ok {
		return errors.New(h.summary())
	}
	return err
}

// Error returns the report, one failure per paragraph, and one that came again
// in other groups once. What the goroutines were doing at the first case that
// hung is at its end.
func (r *Report) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "conformance: %d of %d checks failed (%d do not apply)", len(r.Failures), r.Tried, r.Exempt)
	if r.Untried > 0 {
		fmt.Fprintf(&b, "; %d were not tried, since too many did not return", r.Untried)
	}
	for _, f := range r.Failures {
		if f.Like != "" {
			continue
		}
		b.WriteString("\n\n" + f.String())
		if groups := r.again(f); len(groups) > 0 {
			b.WriteString("\n  also in: " + strings.Join(groups, ", "))
		}
	}
	for _, f := range r.Failures {
		if h, ok := f.Err.(*hang); ok {
			fmt.Fprintf(&b, "\n\nThe goroutines when %s did not return:\n%s", h.what, h.stacks)
			break
		}
	}
	return b.String()
}

// again lists the groups in which a failure came again.
func (r *Report) again(first Failure) []string {
	var groups []string
	for _, f := range r.Failures {
		if f.Check == first.Check && f.Like != "" && f.Like == first.Group {
			groups = append(groups, f.Group)
		}
	}
	return groups
}

// varying is what differs between two reports of one cause.
var varying = regexp.MustCompile("\"(\\\\.|[^\"])*\"|([0-9.]+(ns|µs|ms|s|m|h))+\\b|0x[0-9a-f]+|[0-9]+")

// kind returns what failures of one cause have in common.
func (f Failure) kind() string {
	return f.Check + "\n" + varying.ReplaceAllString(summary(f.Err).Error(), "#")
}

func (f Failure) report(err error) string {
	text := fmt.Sprintf("%v\n  contract: %s", err, f.Clause)
	if f.Feature != "" {
		text += "\n  feature: " + string(f.Feature)
	}
	return text
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
