package jupyter_test

import (
	"context"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// open connects to a test server with options that fit its kind.
func open(ctx context.Context, s *server, opts jupyter.Options) (*jupyter.Stateful, error) {
	opts.URL, opts.Token = s.url, s.token
	if s.kind == "hub" {
		opts.Hub = &jupyter.HubOptions{}
	}
	return jupyter.NewStateful(ctx, &opts)
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"server6", "server7"} {
		t.Run(name, func(t *testing.T) {
			s := sharedServer(t, name)
			conformance.Run(t, conformance.Config{
				New: func() (codeinterp.CodeInterpreter, error) {
					return open(context.Background(), s, jupyter.Options{Spill: true})
				},
				Stateful:  true,
				Thrifty:   true,
				Languages: []string{"python"},
				Patience:  20 * time.Second,
				Timeout:   3 * time.Minute,
			})
			if left := s.kernels(t); len(left) > 0 {
				t.Errorf("kernels left on the server: %v", left)
			}
		})
	}
}
