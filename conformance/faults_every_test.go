package conformance

import (
	"strings"
	"testing"
)

// TestEveryClauseHasAFault keeps the suite honest: a check that was never seen
// to fail proves nothing.
func TestEveryClauseHasAFault(t *testing.T) {
	broken := map[string]bool{}
	for _, f := range faults() {
		broken[f.want] = true
	}
	seen := map[string]bool{}
	for _, c := range Clauses() {
		if !broken[c.Check] {
			t.Errorf("no fault for %s", c.Check)
		}
		if seen[c.Check] || c.Text == "" {
			t.Errorf("%s: a second clause of that name, or one without text", c.Check)
		}
		seen[c.Check] = true
	}
	for _, f := range faults() {
		for name := range strings.FieldsSeq(f.want + " " + f.also) {
			if !seen[name] {
				t.Errorf("%s: noticed by %s, which is no check", f.name, name)
			}
		}
	}
}

// untried are the clauses whose broken providers need what a bubble has not: each is
// tried with the clause that it is for alone, since all the others would take a minute
// of real time with it. What it needs is said beside.
var untried = map[string]string{
	"FloodBounded":      "a heap that is looked at in real time",
	"HugeOutput":        "a heap that is looked at in real time",
	"LeakContexts":      "goroutines that no bubble waits for",
	"LeakGoroutines":    "goroutines that no bubble waits for",
	"ReachSignals":      "a process that ends in real time",
	"StoppedCodeIsDead": "time of a processor",
}

// TestEveryClauseCatchesOneAlone wants each clause to have a broken provider that no
// other clause notices, as one that has none may well be left out. Those that are
// heavy are not counted: GeneratedPrograms notices most of what is wrong with output.
func TestEveryClauseCatchesOneAlone(t *testing.T) {
	alone := map[string]bool{} // whether one of its faults is tried with all clauses
	for _, f := range faults() {
		if f.also == "" {
			alone[f.want] = alone[f.want] || !f.real
		}
	}
	for _, c := range Clauses() {
		tried, ok := alone[c.Check]
		why := untried[c.Check]
		switch {
		case !ok:
			t.Errorf("every fault for %s is noticed by other clauses too: add one that is not, or leave the clause out", c.Check)
		case !tried && why == "":
			t.Errorf("no fault for %s alone is tried with the other clauses", c.Check)
		case tried && why != "":
			t.Errorf("%s is said to need %s, and has a fault that does not", c.Check, why)
		}
	}
}
