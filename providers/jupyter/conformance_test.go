//go:build linux

package jupyter_test

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// open connects to a test server with options that fit its kind.
func open(ctx context.Context, s *server, opts jupyter.Options) (*jupyter.Stateful, error) {
	opts.URL, opts.Token = s.url, s.token
	opts.StartTimeout = cmp.Or(opts.StartTimeout, 5*time.Minute) // a bound against hanging, on a busy machine
	if s.kind == "hub" {
		opts.Hub = &jupyter.HubOptions{}
	}
	return jupyter.NewStateful(ctx, &opts)
}

// suites are what conforms, by name: one server in full, Deno's kernel too, and
// every clause in brief on the others.
var suites = map[string]func(t *testing.T){
	"server6": func(t *testing.T) { conform(t, "server6", conformance.Config{}) },
	"server7": func(t *testing.T) { conform(t, "server7", conformance.Config{Brief: true}) },
	"gateway": func(t *testing.T) { conform(t, "gateway", conformance.Config{Brief: true}) },
	"hub":     func(t *testing.T) { conform(t, "hub", conformance.Config{Brief: true}) },
	"eg":      func(t *testing.T) { conform(t, "eg", conformance.Config{Brief: true}) },
	"R":       conformR,
	"deno": func(t *testing.T) {
		for _, part := range []string{"server6", "deno"} {
			if _, err := os.Stat(filepath.Join(testenv(), part, ".done")); err != nil {
				t.Skip("no Deno kernel: run internal/testenv/jupyter.sh")
			}
		}
		conform(t, "server6", denoConfig())
	},
}

// sameKernel are the servers with the kernel of server6: what a run of theirs
// comes to is tried there. make race tries it with them too, and with R what
// starts many kernels, which are not forked there.
var sameKernel = []string{"gateway", "hub", "eg"}

const childEnv = "TOOLCELL_JUPYTER_SUITE"

// TestConformance runs the suite against each kind of server. The suite counts
// the goroutines and files of its process, so each has a process of its own
// and they can wait side by side.
func TestConformance(t *testing.T) {
	if name := os.Getenv(childEnv); name != "" {
		suites[name](t)
		return
	}
	t.Parallel()
	for name := range suites {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "server6" {
				t.Skip("short: one server does")
			}
			if name == "R" && !race.Full() {
				t.Skip("IRkernel takes ten minutes and more: make race tries it")
			}
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConformance$", "-test.v=true", "-test.timeout=20m")
			switch {
			case race.Full():
			case slices.Contains(sameKernel, name):
				cmd.Args = append(cmd.Args, "-test.skip=^TestConformance$/^python$/^RunInContext$")
			}
			cmd.Env = append(os.Environ(), childEnv+"="+name)
			out, err := cmd.CombinedOutput()
			switch {
			case err != nil:
				t.Errorf("%v\n%s", err, failures(out))
			case skipped(out) != "":
				t.Skip(skipped(out))
			}
		})
	}
}

// conform runs the suite and wants the server to be empty afterwards.
func conform(t *testing.T, name string, cfg conformance.Config) {
	s := sharedServer(t, name)
	way, outage := outages(t, s)
	if !cfg.Brief {
		cfg.Outage = outage
	}
	cfg.New = func() (codeinterp.CodeInterpreter, error) {
		return open(context.Background(), way, jupyter.Options{Spill: true})
	}
	if cfg.Languages == nil {
		cfg.Languages = []string{"python"}
	}
	cfg.Stateful, cfg.Thrifty = true, true
	cfg.Patience, cfg.Timeout = 20*time.Second, cmp.Or(cfg.Timeout, 3*time.Minute)
	conformance.Run(t, cfg)
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("kernels left on the server: %v", left)
	}
}

// outages returns s as it is reached by a way that can be cut, and what cuts it.
func outages(t *testing.T, s *server) (way *server, outage func() (restore func())) {
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	p := newFaultProxy(t, u.Host)
	u.Host = p.address()
	return &server{url: u.String(), token: s.token, kind: s.kind}, func() func() {
		p.set(func() { p.refuse = true })
		p.cut()
		return func() { p.set(func() { p.refuse = false }) }
	}
}
