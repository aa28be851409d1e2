package inmemory_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/hostiletest"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// BenchmarkHostile is how long after their timeouts the hostile programs end,
// those that a timeout has to end. With -v it lists the ten that are latest.
func BenchmarkHostile(b *testing.B) {
	const timeout = 100 * time.Millisecond
	type end struct {
		name string
		late time.Duration
		lost bool
	}
	var ends []end
	s := open(b, &inmemory.Options{Limits: engine.Limits{Memory: memoryLimit}})
	for b.Loop() {
		for _, c := range hostiletest.JavaScript() {
			id := create(b, s, "javascript")
			start := time.Now()
			res := run(b, s, id, c.Code, &codeinterp.RunOptions{Timeout: timeout, MaxOutput: 1 << 20})
			late := time.Since(start) - timeout
			if err := s.DeleteContext(b.Context(), id); err != nil {
				b.Fatal(err)
			}
			if late > 0 {
				ends = append(ends, end{c.Name, late, res.StateLost})
			}
		}
	}
	slices.SortFunc(ends, func(x, y end) int { return cmp.Compare(y.late, x.late) })
	b.ReportMetric(ends[len(ends)/2].late.Seconds()*1e3, "ms-median")
	b.ReportMetric(ends[len(ends)/20].late.Seconds()*1e3, "ms-p95")
	b.ReportMetric(ends[0].late.Seconds()*1e3, "ms-worst")
	var list strings.Builder
	for _, e := range ends[:min(10, len(ends))] {
		fmt.Fprintf(&list, "%-26s %6.1f ms late, state lost: %v\n", e.name, e.late.Seconds()*1e3, e.lost)
	}
	b.Log("the latest:\n" + list.String())
}
