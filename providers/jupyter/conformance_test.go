//go:build linux && real

package jupyter_test

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestConformance tries the contract on Jupyter Server 2 with ipykernel 7, and before that
// what its clauses do not: adopting, lost connections, the ways to end a kernel,
// and the streams.
func TestConformance(t *testing.T) {
	s := start(t, "server7", true)
	t.Run("beside", func(t *testing.T) {
		for name, f := range map[string]func(*testing.T, *server){
			"adopt": adopt, "away": away, "exits": exits, "streams": streams, "late": late, "files": files, "terminal": onTerminal,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f(t, s)
			})
		}
	})
	conform(t, s, conformance.Config{Languages: []string{"python"}})
}

// conform runs the suite and wants the server to be empty afterwards.
func conform(t *testing.T, s *server, cfg conformance.Config) {
	// The first interpreter is that of most clauses, whose kernels start while others run.
	warm := map[string]int{cfg.Languages[0]: 2}
	cfg.New = func() (codeinterp.CodeInterpreter, error) {
		opts := jupyter.Options{StartTimeout: 150 * time.Second, Grace: time.Second, Warm: warm, KeepCommands: time.Minute}
		warm = nil
		return open(context.Background(), s, opts)
	}
	cfg.Stateful = true
	cfg.Patience, cfg.Timeout = 20*time.Second, cmp.Or(cfg.Timeout, 3*time.Minute)
	conformance.Run(t, cfg)
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("kernels left on the server: %v", left)
	}
}
