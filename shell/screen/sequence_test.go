package screen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/tier"
)

// sequences returns text and control sequences of all kinds, with parameters of any size.
func sequences(r *rand.Rand) string {
	one := func(list string) byte { return list[r.IntN(len(list))] }
	number := func() int { return r.IntN(1 << r.IntN(32)) }
	var b strings.Builder
	for range 1 + r.IntN(60) {
		switch r.IntN(9) {
		case 0:
			fmt.Fprintf(&b, "\x1b[%d;%d%c", number(), number(), one("@ABCDEFGHIJKLMPSTXZ`abcdefghlmnqrstu"))
		case 1:
			modes := []int{1, 3, 5, 6, 7, 25, 47, 69, 1047, 1048, 1049, 2004, 2026, 2027, 2048}
			fmt.Fprintf(&b, "\x1b[?%d%c", modes[r.IntN(len(modes))], one("hlnrs"))
		case 2:
			b.WriteString("世界e\u0301\U0001F468\u200D\U0001F469")
		case 3:
			b.WriteString("\r\n")
		case 4:
			fmt.Fprintf(&b, "\x1b%c", one("789=>cDEHMNOZn|o}~"))
		case 5:
			fmt.Fprintf(&b, "\x1b(%c\x0e", one("0AB"))
		case 6:
			for range r.IntN(20) {
				b.WriteByte(byte(r.IntN(256)))
			}
		case 7:
			b.WriteString(strings.Repeat("x", r.IntN(100)))
		case 8:
			fmt.Fprintf(&b, "\x1b[%d%c%c", number(), one(" !$\"'"), one("pqyzr{}x"))
		}
	}
	return b.String()
}

// TestSequences: no sequences of control sequences take long.
func TestSequences(t *testing.T) {
	count := uint64(300)
	if tier.Full {
		count = 20_000
	}
	for n := range count {
		r := rand.New(rand.NewPCG(n, 8))
		text := sequences(r)
		start := time.Now()
		s := newScreen(1+r.IntN(100), 1+r.IntN(40), func([]byte) {})
		s.Write([]byte(text))
		s.Resize(1+r.IntN(100), 1+r.IntN(40))
		s.Write([]byte(text))
		s.State()
		s.Close()
		if took := time.Since(start); took > 30*time.Second {
			t.Fatalf("%q took %v", text, took)
		}
	}
}
