//go:build linux && real

package jupyter_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/toolcell/toolcell/internal/attachtest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestMain is also the host of TestHostKilled.
func TestMain(m *testing.M) {
	if url := os.Getenv(attachtest.Variable + "_URL"); os.Getenv(attachtest.Variable) != "" {
		fmt.Fprintln(os.Stderr, attachtest.Host(jupyter.NewStateful(context.Background(), &jupyter.Options{URL: url})))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// killHosts: a host that is killed at any point leaves its kernel, and the output of its run
// or the report that some is missing, to the next process.
func killHosts(t *testing.T, s *server) {
	attachtest.Kill(t, connected(t, s), attachtest.Variable+"_URL="+s.url+"?token="+s.token)
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("%d kernels left", len(left))
	}
}

// BenchmarkAttach detaches and attaches a context.
func BenchmarkAttach(b *testing.B) {
	ci, err := open(b.Context(), start(b, "server7", false), jupyter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer ci.Close()
	attachtest.Benchmark(b, ci)
}

func TestHostKilled(t *testing.T) { killHosts(t, start(t, "server7", true)) }
