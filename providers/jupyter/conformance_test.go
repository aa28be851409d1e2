//go:build linux

package jupyter_test

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/aparttest"
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

// The kinds of server have the same driver over the same protocol, and divide the
// clauses among them, so that each is tried on one; Deno's kernel, which is started anew
// for each program, tries an eighth. make race tries every clause on each, and with
// -short those of the first two kinds are tried, which have the two generations of the
// kernel.
func TestConformanceServer6(t *testing.T)           { suite(t, "server6", part(0)) }
func TestConformanceServer7(t *testing.T)           { suite(t, "server7", part(1)) }
func TestConformanceGateway(t *testing.T)           { suite(t, "gateway", part(2)) }
func TestConformanceHub(t *testing.T)               { suite(t, "hub", part(3)) }
func TestConformanceEnterpriseGateway(t *testing.T) { suite(t, "eg", part(4)) }

// servers are the kinds that divide the clauses.
const servers = 5

// part has the numbered server try its part of the clauses.
func part(number int) conformance.Config {
	if race.Full() {
		return conformance.Config{Brief: number > 0}
	}
	return conformance.Config{Share: conformance.Share{Number: number, Of: servers}}
}

func TestConformanceDeno(t *testing.T) {
	race.Long(t, "the other kernels try clauses")
	for _, part := range []string{"server6", "deno"} {
		if _, err := os.Stat(filepath.Join(testenv(), part, ".done")); err != nil {
			missing(t, true, "no Deno kernel: run internal/testenv/jupyter.sh")
		}
	}
	if !aparttest.Run(t) {
		cfg := denoConfig()
		if !race.Full() {
			cfg.Share = conformance.Share{Of: 8}
		}
		conform(t, "server6", cfg)
	}
}

// IRkernel's kernels are started anew, not forked.
func TestConformanceR(t *testing.T) {
	if !race.Full() {
		t.Skip("IRkernel takes ten minutes and more: make race tries it")
	}
	if !aparttest.Run(t) {
		conformR(t)
	}
}

// suite runs the suite against a kind of server in a process of its own.
func suite(t *testing.T, server string, cfg conformance.Config) {
	if cfg.Share.Number > 1 {
		race.Long(t, "two servers try clauses")
	}
	if !aparttest.Run(t) {
		conform(t, server, cfg)
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
		// Less than a case has: what was waited for is told then.
		return open(context.Background(), way, jupyter.Options{Spill: true, StartTimeout: 150 * time.Second})
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
