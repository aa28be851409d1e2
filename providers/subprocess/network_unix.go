//go:build unix

package subprocess

import (
	"errors"
	"fmt"
	"maps"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// openNetwork makes the gate of the options, nil if they have no policy, and puts what
// programs read of it into the options of the sandbox.
func (o *Options) openNetwork(b *sandbox.Options) (*gate.Gate, error) {
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
	certificates, err := g.WriteBundle(o.Sandbox.TempDir)
	if err != nil {
		return nil, fmt.Errorf("%w: certificates: %w", codeinterp.ErrUnavailable, errors.Join(err, g.Close()))
	}
	b.Egress = true
	if certificates != "" {
		b.ReadOnly = append(b.ReadOnly[:len(b.ReadOnly):len(b.ReadOnly)], certificates)
	}
	return g, nil
}

// connect gives a process that is about to start its ways out, and the environment that
// names them.
func (h *host) connect(pl *place, c *sandbox.Cmd, env map[string]string) {
	if h.network == nil {
		return
	}
	pl.net = h.network.Session()
	c.Egress = &sandbox.Egress{Serve: pl.net.Serve, DNS: pl.net.DNS, Ports: h.network.Ports()}
	own := h.network.Environ(sandbox.ProxyPort)
	maps.Copy(own, env)
	maps.Copy(env, own)
}

// beginRun says that a program begins in a place.
func (pl *place) beginRun(prog *driver.Program) {
	if pl.net != nil {
		pl.net.BeginRun(string(pl.id), prog.Network, prog.OnNetwork)
	}
}
