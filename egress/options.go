package egress

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"

	"github.com/toolcell/toolcell/codeinterp"
)

// Options is what a provider takes to let programs reach hosts. Functions may be called
// concurrently. One that panics counts as one that fails, and refuses.
type Options struct {
	Policy Policy

	// Secrets has the credentials of rules with Credential.
	Secrets Secrets

	// OnEvent receives an event for each connection or request, when it has ended. It
	// should return soon: the end of a program waits for it.
	OnEvent func(Event)

	// Approve is asked about a host that no rule allows, in the mode Hosts, before its name
	// is resolved; not about an address that is refused anyway. The program waits meanwhile;
	// ctx ends with its connection or its run.
	Approve func(ctx context.Context, q Question) Answer

	// Lookup resolves names, by default with the host's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	// Dial connects to an address that the policy allows, by default over TCP.
	Dial func(ctx context.Context, a netip.AddrPort) (net.Conn, error)

	// RootCAs verifies the servers whose requests are inspected, by default the
	// system's.
	RootCAs *x509.CertPool
}

// An Event is one connection, or one request where requests are seen.
type Event = codeinterp.NetworkEvent

// A Question asks whether a program may reach a host that no rule allows.
type Question struct {
	Context string
	Host    string // canonical
	Port    int
}

// An Answer to a Question.
type Answer int

// The answers.
const (
	Refuse       Answer = iota
	AllowOnce           // this connection or request
	AllowContext        // the host, on this port, for as long as the context lives
)
