package quickjs

import (
	"strconv"
	"testing"
)

// What is kept of earlier programs is little, however many they were and whatever
// their size.
func TestPositionsAreFew(t *testing.T) {
	for _, c := range []struct {
		name     string
		size     int64
		programs int
		kept     int
	}{
		{"few", 100, 10, 10},
		{"many", 10, 1000, maxMapped - 1},
		{"large", maxMappedSize / 4, 10, 4},
		{"too large", maxMappedSize + 1, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ps positions
			for i := range c.programs {
				ps.add(strconv.Itoa(i), func(l, c int) (int, int) { return l, c }, c.size)
				ps.trim()
			}
			if len(ps.of) != c.kept || len(ps.order) != c.kept || ps.size != int64(c.kept)*c.size {
				t.Errorf("%d of %d bytes are kept, want %d", len(ps.of), ps.size, c.kept)
			}
			if c.kept > 0 && ps.of[strconv.Itoa(c.programs-1)] == nil {
				t.Error("the latest is not kept")
			}
		})
	}
}
