package gate

import (
	"encoding/binary"
	"io"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// Addresses are what DNS gives to programs in the place of real addresses: each stands
// for one name, within one session.
var Addresses = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, 0, 0}), 15)

const maxNames = 4096

// names are the names that programs have resolved.
type names struct {
	mu     sync.Mutex
	byAddr []string // 198.18.0.1 is the first
	byName map[string]int
}

func (n *names) host(a netip.Addr) string {
	a = a.Unmap()
	if !Addresses.Contains(a) {
		return ""
	}
	b := a.As4()
	i := int(b[1]-18)<<16 + int(b[2])<<8 + int(b[3]) - 1
	n.mu.Lock()
	defer n.mu.Unlock()
	if i < 0 || i >= len(n.byAddr) {
		return ""
	}
	return n.byAddr[i]
}

func (n *names) address(host string) (a [4]byte, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i, known := n.byName[host]
	if !known {
		if len(n.byAddr) == maxNames {
			return a, false
		}
		if n.byName == nil {
			n.byName = map[string]int{}
		}
		n.byAddr = append(n.byAddr, host)
		i = len(n.byAddr)
		n.byName[host] = i
	}
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
	s.mu.Lock()
	limit := s.limit
	s.mu.Unlock()
	known := err == nil && leaves(limit, host) && (s.gate.policy.Resolves(host) || s.gate.opts.Approve != nil && s.gate.policy.Mode == egress.Hosts)
	var count uint16
	switch {
	case !known:
		flags |= dnsNoName
		s.refused(egress.Event{Protocol: "dns", Host: name}, &egress.Refusal{Host: name, Reason: "is not a host that this program may reach", Allowed: s.gate.policy.HostNames(8)})
	case kind == dnsTypeA:
		if a, ok := s.names.address(host); ok {
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
	for {
		if i >= len(b) || b[i] > 63 || i+1+int(b[i]) > len(b) || i > 12+255 {
			return "", 0, 0, false
		}
		n := int(b[i])
		if n == 0 {
			break
		}
		labels = append(labels, string(b[i+1:i+1+n]))
		i += 1 + n
	}
	if i+5 > len(b) {
		return "", 0, 0, false
	}
	return strings.Join(labels, "."), binary.BigEndian.Uint16(b[i+1:]), i + 5, true
}

// dnsStream answers DNS over TCP (RFC 7766).
func (s *Session) dnsStream(c *conn) {
	defer c.Close()
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
