package quickjs

import (
	"testing"
	"time"
)

// A program that has to end is given up after its own computing, and not
// because the machine had no time for it.
func TestPatience(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		inside, computed time.Duration
		want             bool
	}{
		{39 * ms, 39 * ms, false},
		{40 * ms, 40 * ms, true},
		{40 * ms, 20 * ms, false},
		{80 * ms, 20 * ms, true},
		{80 * ms, 5 * ms, false},
		{999 * ms, 5 * ms, false},
		{1000 * ms, 0, true},
		{10 * ms, 1000 * ms, false},
	} {
		if got := patienceEnded(tt.inside, tt.computed); got != tt.want {
			t.Errorf("in the engine for %v, computing %v: got %v", tt.inside, tt.computed, got)
		}
	}
}
