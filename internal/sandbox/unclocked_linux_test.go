package sandbox

import (
	"os"
	"testing"
	"time"
)

// TestUnclocked: what processes take beyond what their clock says, whenever in a
// look the clock was read.
func TestUnclocked(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		looks [][3]time.Duration // taken by processes, and the clock before and after
		want  time.Duration
	}{
		"all on the clock":         {[][3]time.Duration{{0, 0, 0}, {90 * ms, 90 * ms, 95 * ms}, {100 * ms, 200 * ms, 200 * ms}}, -10 * ms},
		"a clock read late":        {[][3]time.Duration{{0, 0, 0}, {10 * ms, 10 * ms, 500 * ms}, {490 * ms, 500 * ms, 500 * ms}}, 0},
		"off the clock":            {[][3]time.Duration{{0, 0, 0}, {100 * ms, 10 * ms, 10 * ms}, {100 * ms, 10 * ms, 10 * ms}}, 190 * ms},
		"off, after much on it":    {[][3]time.Duration{{0, 0, 0}, {100 * ms, 900 * ms, 900 * ms}, {300 * ms, 900 * ms, 900 * ms}}, 300 * ms},
		"before the first look":    {[][3]time.Duration{{0, 50 * ms, 60 * ms}, {0, 60 * ms, 60 * ms}}, -10 * ms},
		"at the first look itself": {[][3]time.Duration{{0, 50 * ms, 60 * ms}}, -10 * ms},
	} {
		var c unclocked
		for i, l := range tt.looks {
			c.seen += l[0]
			c.see(l[1], l[2])
			c.looked = uint64(i + 1)
		}
		if c.by != tt.want {
			t.Errorf("%s: %v, want %v", name, c.by, tt.want)
		}
	}
	if n, ok := processTime(os.Getpid()); !ok || n <= 0 {
		t.Errorf("this process took %v, %v", n, ok)
	}
	if _, ok := processTime(1 << 22); ok {
		t.Error("a process that is not there has a time")
	}
}
