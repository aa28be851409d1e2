package egress

import (
	"net/netip"
	"slices"
	"strings"
)

// special are the ranges that are not public: those of the IANA registries of
// special-purpose addresses (RFC 6890 and its updates), those that carry an IPv4
// address within an IPv6 one, and the address of one cloud's metadata service
// that is in no registry. Of IPv6 all beside globalUnicast is not public either.
var (
	special = prefixes(`0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
		192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
		198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
		2001::/23 2001:db8::/32 2002::/16 3fff::/20`)
	globalUnicast = netip.MustParsePrefix("2000::/3")
)

func prefixes(text string) (list []netip.Prefix) {
	for s := range strings.FieldsSeq(text) {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}

func contains(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Reachable reports whether an address, to which a host of the rules leads, may be
// dialled: it is public, or listed in a rule as one of its Addresses or as a host, and
// not in Deny. One that is not listed must not be one of the machine's own addresses
// either, which the caller has to check.
func (p *Policy) Reachable(a netip.Addr, rules Rules) (listed, ok bool) {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || contains(p.Deny, a) {
		return false, false
	}
	listed = slices.ContainsFunc(rules, func(r *Rule) bool { return contains(r.Addresses, a) || slices.Contains(r.Hosts, a.String()) })
	return listed, listed || (a.Is4() || globalUnicast.Contains(a)) && !contains(special, a)
}
