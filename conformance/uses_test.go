package conformance

import "testing"

// Where a clause is not tried for want of programs, the reason names them.
func TestUnwritten(t *testing.T) {
	if got := unwritten(Programs{Set: func(string, string) string { return "" }}, variables); got != "Get, Has" {
		t.Errorf("got %q", got)
	}
	for _, c := range checks() {
		if c.uses != nil && !c.uses(&Programs{}) && unwritten(Programs{}, c.uses) == "" {
			t.Errorf("%s: nothing is named that it needs", c.name)
		}
	}
}
