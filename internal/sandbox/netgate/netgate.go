// Package netgate gives programs of a sandbox connections that their host answers, and
// no others.
//
// A program with a network namespace of its own finds listeners of the host's in it:
// [Listen]. Nothing of the host is in the namespace but these sockets.
//
// A program without one gets the end of a connected pair when it calls socket, and
// connect connects nothing: [Notifier]. What decides is in registers, so that there is
// nothing to race with. The address that connect names is read from the program's memory
// only to say which destination it means; a program that changes it meanwhile means
// another one.
package netgate

import (
	"net"
	"net/netip"
)

// An Egress answers what a program connects to. Its functions are called concurrently.
type Egress struct {
	// Serve answers one connection, which it owns, and returns when that is closed. dst is
	// the address that the program connected to, zero if it is not known.
	Serve func(c net.Conn, dst netip.AddrPort)

	// DNS answers one DNS message, or returns nil to drop it.
	DNS func(query []byte) []byte

	// Ports are the TCP ports on which Addresses are answered, at most 64.
	Ports []int
}

// ProxyPort is the port of the proxy on 127.0.0.1.
const ProxyPort = 3128

// Addresses are those that DNS may give to names. They lead to Serve.
var Addresses = netip.MustParsePrefix("198.18.0.0/15")

const (
	dnsPort  = 53
	maxPorts = 64
	maxConns = 256 // of one program and what it started
)
