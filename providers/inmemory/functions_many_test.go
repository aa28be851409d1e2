package inmemory_test

import (
	"testing"

	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/internal/race"
)

// TestManyCalls: many calls leave goroutines, descriptors and memory as they were.
// TOOLCELL_CALLS=100000 makes that many in each language.
func TestManyCalls(t *testing.T) {
	s := open(t, both())
	for _, language := range []string{"javascript", "typescript"} {
		t.Run(language, func(t *testing.T) { callstest.Many(t, s, language, callstest.Calls(5000)) })
	}
}

// TestFunctionHammer: parallel callers with functions of their own never see each
// other's calls or answers.
func TestFunctionHammer(t *testing.T) {
	h := callstest.Hammer{Languages: []string{"javascript", "typescript"}, Callers: 16, Rounds: 5, Calls: max(callstest.Calls(16000)/80, 1)}
	if race.Enabled {
		h.Callers, h.Rounds = 8, 2
	}
	h.Run(t, open(t, both()))
}

func BenchmarkFunctionsTogether(b *testing.B) {
	callstest.Together(b, open(b, both()), "javascript", "typescript")
}
