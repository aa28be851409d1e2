//go:build linux

package subprocess_test

import (
	"os"
	"testing"

	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestManyCalls: many calls leave goroutines, descriptors and memory as they were.
// TOOLCELL_CALLS=100000 makes that many in each language.
func TestManyCalls(t *testing.T) {
	ci := open(t, subprocess.Options{})
	for language, calls := range map[string]int{"python": 2000, "javascript": 2000, "bash": 50} {
		t.Run(language, func(t *testing.T) { callstest.Many(t, ci, language, callstest.Calls(calls)) })
	}
}

// TestFunctionHammer: parallel callers with functions of their own never see each
// other's calls or answers.
func TestFunctionHammer(t *testing.T) {
	h := callstest.Hammer{Languages: []string{"python", "javascript", "typescript"}, Callers: 6, Rounds: 3, Calls: max(callstest.Calls(7200)/18, 1)}
	ci := open(t, subprocess.Options{})
	h.Run(t, ci)
	h = callstest.Hammer{Languages: []string{"bash"}, Callers: 3, Rounds: 2, Calls: 10}
	if os.Getenv("TOOLCELL_CALLS") != "" {
		h.Calls = 500
	}
	h.Run(t, ci)
}

func BenchmarkFunctionsTogether(b *testing.B) {
	callstest.Together(b, open(b, subprocess.Options{}), "python", "javascript", "typescript")
}
