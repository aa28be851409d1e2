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

// TestConformance tries the contract on Jupyter Server 2 with ipykernel 7.
func TestConformance(t *testing.T) {
	conform(t, start(t, "server7", true), conformance.Config{Languages: []string{"python"}})
}

// conform runs the suite and wants the server to be empty afterwards.
func conform(t *testing.T, s *server, cfg conformance.Config) {
	cfg.New = func() (codeinterp.CodeInterpreter, error) {
		return open(context.Background(), s, jupyter.Options{StartTimeout: 150 * time.Second})
	}
	cfg.Stateful = true
	cfg.Patience, cfg.Timeout = 20*time.Second, cmp.Or(cfg.Timeout, 3*time.Minute)
	conformance.Run(t, cfg)
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("kernels left on the server: %v", left)
	}
}
