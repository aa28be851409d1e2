package egress

import (
	"net/netip"
	"slices"
)

// special are the ranges that are not public: those of the IANA registries of
// special-purpose addresses (RFC 6890 and its updates), those that carry an IPv4
// address within an IPv6 one, and the address of one cloud's metadata service
// that is in no registry.
var special = [...]netip.Prefix{
	v4(0, 0, 0, 0, 8), v4(10, 0, 0, 0, 8), v4(100, 64, 0, 0, 10), v4(127, 0, 0, 0, 8), v4(169, 254, 0, 0, 16),
	v4(172, 16, 0, 0, 12), v4(192, 0, 0, 0, 24), v4(192, 0, 2, 0, 24), v4(192, 31, 196, 0, 24), v4(192, 52, 193, 0, 24),
	v4(192, 88, 99, 0, 24), v4(192, 168, 0, 0, 16), v4(192, 175, 48, 0, 24), v4(198, 18, 0, 0, 15),
	v4(198, 51, 100, 0, 24), v4(203, 0, 113, 0, 24), v4(224, 0, 0, 0, 4), v4(240, 0, 0, 0, 4), v4(168, 63, 129, 16, 32),
}

// globalUnicast is where public IPv6 addresses are; within it, special6 are not.
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	special6      = [...]netip.Prefix{
		netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
		netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
	}
)

func v4(a, b, c, d byte, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c, d}), bits)
}

func public(a netip.Addr) bool {
	if a.Is4() {
		return !contains(special[:], a)
	}
	return globalUnicast.Contains(a) && !contains(special6[:], a)
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
	return listed, listed || public(a)
}
