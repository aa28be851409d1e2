package inmemory_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/hostiletest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// A lateEnd is how long after its timeout a program ended, and how much of the
// processor the process took in that time: the part that does not grow with what
// else the machine does.
type lateEnd struct {
	name      string
	late, cpu time.Duration
	lost      bool
}

// BenchmarkHostile is how long after their timeouts the hostile programs end,
// those that a timeout has to end. With -v it lists the ten that are latest.
func BenchmarkHostile(b *testing.B) {
	const timeout = 100 * time.Millisecond
	var ends []lateEnd
	s := open(b, &inmemory.Options{Limits: engine.Limits{Memory: memoryLimit}})
	for b.Loop() {
		for _, c := range hostiletest.JavaScript() {
			id := create(b, s, "javascript")
			var atTimeout atomic.Int64
			start := time.Now()
			clock := time.AfterFunc(timeout, func() { atTimeout.Store(int64(cpuTime(b))) })
			res := run(b, s, id, c.Code, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20})
			late, cpu := time.Since(start)-timeout, cpuTime(b)-time.Duration(atTimeout.Load())
			clock.Stop()
			if err := s.DeleteContext(b.Context(), id); err != nil {
				b.Fatal(err)
			}
			if late > 0 && atTimeout.Load() > 0 {
				ends = append(ends, lateEnd{c.Name, late, cpu, res.StateLost})
			}
		}
	}
	reportLate(b, ends, "", func(e lateEnd) time.Duration { return e.late })
	reportLate(b, ends, "cpu-", func(e lateEnd) time.Duration { return e.cpu })
}

// reportLate reports one of the times of all ends, and lists the ten greatest.
func reportLate(b *testing.B, ends []lateEnd, unit string, of func(lateEnd) time.Duration) {
	slices.SortFunc(ends, func(x, y lateEnd) int { return cmp.Compare(of(y), of(x)) })
	ms := func(i int) float64 { return of(ends[i]).Seconds() * 1e3 }
	b.ReportMetric(ms(len(ends)/2), unit+"ms-median")
	b.ReportMetric(ms(len(ends)/20), unit+"ms-p95")
	b.ReportMetric(ms(0), unit+"ms-worst")
	var list strings.Builder
	for i, e := range ends[:min(10, len(ends))] {
		fmt.Fprintf(&list, "%-26s %6.1f %sms late, state lost: %v\n", e.name, ms(i), unit, e.lost)
	}
	b.Logf("the latest of %d:\n%s", len(ends), &list)
}
