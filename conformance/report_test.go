package conformance

import (
	"errors"
	"testing"
)

// TestFailureFeature: a failure names what can be declared as lacking.
func TestFailureFeature(t *testing.T) {
	f := Failure{Check: "x", Clause: "c", Err: errors.New("e"), Feature: InterruptKeepsState}
	if want := "x: e\n  contract: c\n  feature: InterruptKeepsState"; f.String() != want || "x: "+f.text() != want {
		t.Errorf("got %q and %q", f.String(), f.text())
	}
}

// TestKind: failures that differ in times, numbers and texts alone are of one kind.
func TestKind(t *testing.T) {
	kind := func(text string) string { return Failure{Check: "x", Err: errors.New(text)}.kind() }
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"the run took 250ms", "the run took 1.5s", true},
		{"the run took 900µs", "the run took 1m2.5s", true},
		{"got 3 of 12 calls", "got 40 of 7 calls", true},
		{`got "a 5", want "b"`, `got "", want "\"c\""`, true},
		{"exit code 3", "exit status 3", false},
		{"3 messages", "3 seconds", false},
	} {
		if got := kind(tt.a) == kind(tt.b); got != tt.same {
			t.Errorf("%q and %q: same is %v", tt.a, tt.b, got)
		}
	}
}
