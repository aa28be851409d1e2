package gate

import (
	"encoding/binary"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// Addresses are what DNS gives to programs in the place of real addresses: each stands
// for one name, within one session.
var Addresses = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, 0, 0}), 15)

const maxNames = 4096

// named returns the name that an address stands for, if any.
func (s *Session) named(a netip.Addr) string {
	if a = a.Unmap(); !Addresses.Contains(a) {
		return ""
	}
	i := int(binary.BigEndian.Uint32(a.AsSlice())-binary.BigEndian.Uint32(Addresses.Addr().AsSlice())) - 1 // 198.18.0.1 is the first
	s.mu.Lock()
	defer s.mu.Unlock()
	if i < 0 || i >= len(s.names) {
		return ""
	}
	return s.names[i]
}

// address returns the address that stands for a name, unless there are too many names.
func (s *Session) address(host string) (a [4]byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.names, host)
	if i < 0 {
		if i = len(s.names); i == maxNames {
			return a, false
		}
		s.names = append(s.names, host)
	}
	i++
	return [4]byte{198, 18, byte(i >> 8), byte(i)}, true
}

// Parts of DNS messages (RFC 1035, section 4.1).
const (
	dnsResponse = 1 << 15
	dnsRecurse  = 1<<8 | 1<<7 // desired and available
	dnsNoName   = 3
	dnsTypeA    = 1
	dnsTTL      = 60
)

// DNS answers one message of a program, nil if it is no question. Nothing of it leaves
// the process: a name that is allowed has one address of Addresses, others do
// not exist, and there are no records of other types.
func (s *Session) DNS(message []byte) []byte {
	name, kind, end, ok := parseQuestion(message)
	if !ok {
		return nil
	}
	answer := append([]byte{}, message[:end]...)
	flags := uint16(dnsResponse|dnsRecurse) | binary.BigEndian.Uint16(message[2:])&0x7900
	host, err := egress.CanonicalHost(name)
	p := &s.gate.policy
	known := err == nil && s.allowed(&target{host: host}) == nil && (p.Resolves(host) || s.gate.opts.Approve != nil && p.Mode == egress.Hosts)
	var count uint16
	switch {
	case !known:
		flags |= dnsNoName
		s.refuse(egress.Event{Protocol: "dns", Host: name}, &egress.Refusal{Host: name, Reason: "is not a host that this program may reach", Allowed: p.HostNames(8)})
	case kind == dnsTypeA:
		if a, ok := s.address(host); ok {
			count = 1
			answer = append(answer, 0xc0, 12, 0, dnsTypeA, 0, 1, 0, 0, 0, dnsTTL, 0, 4)
			answer = append(answer, a[:]...)
		}
	}
	binary.BigEndian.PutUint16(answer[2:], flags)
	binary.BigEndian.PutUint16(answer[6:], count)
	binary.BigEndian.PutUint32(answer[8:], 0)
	return answer
}

// parseQuestion reads the one question of a message, and where it ends.
func parseQuestion(b []byte) (name string, kind uint16, end int, ok bool) {
	if len(b) < 12 || b[2]&0x80 != 0 || binary.BigEndian.Uint16(b[4:]) != 1 {
		return "", 0, 0, false
	}
	var labels []string
	i := 12
	for i < len(b) && b[i] > 0 && b[i] <= 63 && i <= 12+255 {
		next := i + 1 + int(b[i])
		labels = append(labels, string(b[i+1:min(next, len(b))]))
		i = next
	}
	if i+5 > len(b) || b[i] != 0 {
		return "", 0, 0, false
	}
	return strings.Join(labels, "."), binary.BigEndian.Uint16(b[i+1:]), i + 5, true
}

// dnsStream answers DNS over TCP (RFC 7766).
func (s *Session) dnsStream(c *conn) {
	for {
		_ = c.SetDeadline(time.Now().Add(helloTime))
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		message := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, message); err != nil {
			return
		}
		a := s.DNS(message)
		if a == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...)); err != nil {
			return
		}
	}
}
