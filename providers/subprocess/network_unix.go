//go:build unix

package subprocess

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A network is what programs reach by Options.Egress.
type network struct {
	gate   *gate.Gate
	bundle string // file of the certificates that programs are to trust, empty for the system's
}

// openNetwork makes the gate of the options, nil if they have no policy, and puts what
// programs read of it into the options of the sandbox.
func (o *Options) openNetwork(b *sandbox.Options) (*network, error) {
	if o.Egress == nil || o.Egress.Policy.Mode == egress.Off {
		return nil, nil
	}
	if o.Network {
		return nil, fmt.Errorf("%w: both Network and Egress", codeinterp.ErrInvalid)
	}
	if o.Egress.Policy.Mode == egress.Host {
		b.Network = true
		return nil, nil
	}
	g, err := gate.New(o.Egress)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
	}
	n := &network{gate: g}
	if n.bundle, err = g.WriteBundle(o.Sandbox.TempDir); err != nil {
		n.close()
		return nil, fmt.Errorf("%w: certificates: %w", codeinterp.ErrUnavailable, err)
	}
	b.Egress = true
	if n.bundle != "" {
		b.ReadOnly = append(b.ReadOnly[:len(b.ReadOnly):len(b.ReadOnly)], filepath.Dir(n.bundle))
	}
	return n, nil
}

func (n *network) close() {
	if n == nil {
		return
	}
	_ = n.gate.Close()
	if n.bundle != "" {
		_ = os.RemoveAll(filepath.Dir(n.bundle))
	}
}

// connect gives a process that is about to start its ways out, and the environment that
// names them.
func (n *network) connect(pl *place, c *sandbox.Cmd, env map[string]string) {
	if n == nil {
		return
	}
	pl.net = n.gate.Session()
	c.Egress = &sandbox.Egress{Serve: pl.net.Serve, DNS: pl.net.DNS, Ports: n.gate.Ports()}
	own := map[string]string{}
	for _, kv := range gate.Environ(sandbox.ProxyPort, n.bundle) {
		k, v, _ := strings.Cut(kv, "=")
		own[k] = v
	}
	maps.Copy(own, env)
	maps.Copy(env, own)
}

// beginRun says that a program begins in a place, endRun what was refused to it.
func (pl *place) beginRun(prog *driver.Program) {
	if pl.net != nil {
		pl.net.BeginRun(string(pl.id), prog.Network, prog.OnNetwork)
	}
}

func (pl *place) endRun() []string {
	if pl.net == nil {
		return nil
	}
	return pl.net.EndRun()
}

// closeNet ends what a place's process has open.
func (pl *place) closeNet() {
	if pl.net != nil {
		pl.net.Close()
	}
}
