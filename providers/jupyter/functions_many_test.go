//go:build linux

package jupyter_test

import (
	"testing"

	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestManyCalls: many calls leave goroutines, descriptors and memory as they were.
// TOOLCELL_CALLS=100000 makes that many.
func TestManyCalls(t *testing.T) {
	callstest.Many(t, atServer(t, sharedServer(t, "server7")), "python", callstest.Calls(500))
}

// TestFunctionHammer: parallel callers with functions of their own never see each
// other's calls or answers.
func TestFunctionHammer(t *testing.T) {
	callstest.Hammer{Languages: []string{"python"}, Callers: 4, Rounds: 3, Calls: max(callstest.Calls(2400)/12, 1)}.Run(t, atServer(t, sharedServer(t, "server7")))
}

func BenchmarkFunctionsTogether(b *testing.B) {
	callstest.Together(b, atServer(b, ownServer(b, "server7")), "python")
}

func atServer(t testing.TB, s *server) *jupyter.Stateful {
	ci := must(open(t.Context(), s, jupyter.Options{}))(t)
	t.Cleanup(func() { _ = ci.Close() })
	return ci
}
