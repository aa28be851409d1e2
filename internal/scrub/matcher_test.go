package scrub

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// replaced is what a matcher does, in the plain way.
func replaced(text string, patterns []string) string {
	var b strings.Builder
	at, from, to := 0, 0, 0
	flush := func() {
		if to > from {
			b.WriteString(text[at:from])
			b.Write(mask)
			at = to
		}
	}
	for i := range text {
		for _, p := range patterns {
			if !strings.HasPrefix(text[i:], p) {
				continue
			}
			if i >= to {
				flush()
				from = i
			}
			to = max(to, i+len(p))
		}
	}
	flush()
	return b.String() + text[at:]
}

// ending is Scrubber.ending, in the plain way.
func ending(text string, patterns []string) (most int) {
	for _, p := range patterns {
		for n := 1; n <= len(p); n++ {
			if strings.HasPrefix(text, p[len(p)-n:]) {
				most = max(most, n)
			}
		}
	}
	return most
}

// TestMatcher cuts random texts into random chunks. Patterns overlap, begin and
// end alike, and contain each other.
func TestMatcher(t *testing.T) {
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abc"[rand.IntN(3)]
		}
		return string(b)
	}
	for range 20_000 {
		var patterns []string
		for range 1 + rand.IntN(4) {
			patterns = append(patterns, random(1+rand.IntN(6)))
		}
		s := of(patterns)
		m, text := matcher{set: s}, random(rand.IntN(40))
		var got []byte
		for rest := text; rest != ""; {
			n := 1 + rand.IntN(len(rest))
			got = append(got, m.chunk([]byte(rest[:n]))...)
			rest = rest[n:]
			if len(m.held) > 5 {
				t.Fatalf("%q in %q: %d bytes are held back", patterns, text, len(m.held))
			}
		}
		if got, want := string(m.end(got)), replaced(text, patterns); got != want {
			t.Fatalf("%q in %q: got %q, want %q", patterns, text, got, want)
		}
		if got, want := s.ending([]byte(text)), ending(text, patterns); got != want {
			t.Fatalf("%q at the start of %q: %d bytes, want %d", patterns, text, got, want)
		}
	}
}
