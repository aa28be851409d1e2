package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Refusal is the error for a request that the policy does not allow. Its text is for
// the program and the model that wrote it.
type Refusal struct {
	Host   string // as asked for
	Port   int    // 0 if not known
	Reason string // "is not a host that this program may reach"

	// Allowed lists hosts that are allowed, where the host was not; at most 8.
	Allowed []string
}

// Error returns "host:port reason; allowed: ...".
func (r *Refusal) Error() string {
	s := r.Host
	if r.Port != 0 {
		s = net.JoinHostPort(r.Host, strconv.Itoa(r.Port))
	}
	s = strings.TrimSpace(s + " " + r.Reason)
	if len(r.Allowed) > 0 {
		s += "; allowed: " + strings.Join(r.Allowed, ", ")
	}
	return s
}

// Rules are those of a policy that fit one host and port.
type Rules []*Rule

// ForHost returns the rules for a host, which must be canonical, and a port. The error
// is a *Refusal. In the mode Open, the list is empty for a host that no rule names.
func (p *Policy) ForHost(host string, port int) (Rules, error) {
	var rules Rules
	for i := range p.Rules {
		if r := &p.Rules[i]; r.fits(host, port) {
			rules = append(rules, r)
		}
	}
	if rules == nil && (p.Mode != Open || p.names(host)) {
		return nil, &Refusal{Host: host, Port: port, Reason: "is not a host that this program may reach", Allowed: p.HostNames(8)}
	}
	return rules, nil
}

// names reports whether a rule is for the host on whatever port.
func (p *Policy) names(host string) bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return MatchHost(r.Hosts, host) })
}

// Resolves reports whether programs may learn that a name exists.
func (p *Policy) Resolves(host string) bool {
	return p.Mode == Open || p.Mode == Hosts && p.names(host)
}

// HostNames returns up to n hosts of the rules, with the port where it is not 80 or 443.
func (p *Policy) HostNames(n int) []string {
	var list []string
	for i := range p.Rules {
		for _, h := range p.Rules[i].Hosts {
			if len(p.Rules[i].Ports) > 0 {
				h = net.JoinHostPort(h, strconv.Itoa(p.Rules[i].Ports[0]))
			}
			if !slices.Contains(list, h) {
				list = append(list, h)
			}
		}
	}
	return list[:min(n, len(list))]
}

func (r *Rule) fits(host string, port int) bool {
	if len(r.Ports) == 0 && port != 80 && port != 443 || len(r.Ports) > 0 && !slices.Contains(r.Ports, port) {
		return false
	}
	return MatchHost(r.Hosts, host)
}

// MatchHost reports whether a canonical host is one of a rule's Hosts.
func MatchHost(patterns []string, host string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		suffix, below := strings.CutPrefix(p, "*")
		return p == "*" || p == host || below && !isAddress(host) && strings.HasSuffix(host, suffix)
	})
}

// ForRequest returns the rule that allows a request to a host of the rules; nil for an
// empty list, which allows every request. The path comes decoded and as it was sent.
func (rs Rules) ForRequest(method, decoded, sent string) (*Rule, error) {
	if len(rs) == 0 {
		return nil, nil
	}
	if slices.ContainsFunc(rs, func(r *Rule) bool { return len(r.Paths) > 0 }) {
		if err := plainPath(decoded, sent); err != nil {
			return nil, err
		}
	}
	for _, r := range rs {
		if r.allows(method, decoded) {
			return r, nil
		}
	}
	return nil, &Refusal{Reason: fmt.Sprintf("the request %s %s is not one that this program may make", method, decoded)}
}

func (r *Rule) allows(method, p string) bool {
	if len(r.Methods) > 0 && !slices.Contains(r.Methods, method) && !(method == "HEAD" && slices.Contains(r.Methods, "GET")) {
		return false
	}
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(want string) bool {
		prefix, open := strings.CutSuffix(want, "*")
		return want == p || open && strings.HasPrefix(p, prefix)
	})
}

// plainPath refuses a path that a server could take for another one.
func plainPath(decoded, sent string) error {
	lower := strings.ToLower(sent)
	encoded := slices.ContainsFunc([]string{"%2e", "%2f", "%5c", "%25", "%00"}, func(s string) bool { return strings.Contains(lower, s) })
	clean := path.Clean(decoded)
	if strings.HasSuffix(decoded, "/") && clean != "/" {
		clean += "/"
	}
	if encoded || clean != decoded || !strings.HasPrefix(decoded, "/") || strings.ContainsAny(decoded, "\\;\x00") {
		return &Refusal{Reason: fmt.Sprintf("the path %q is not in its plain form", sent)}
	}
	return nil
}

// Raw reports whether one of the rules allows every protocol.
func (rs Rules) Raw() bool { return slices.ContainsFunc(rs, func(r *Rule) bool { return r.Raw }) }

// Inspect reports whether requests within TLS have to be seen.
func (rs Rules) Inspect() bool { return slices.ContainsFunc(rs, (*Rule).Inspects) }

// CanonicalHost returns the one spelling of a host: lower case, without a final dot,
// addresses as [netip.Addr] prints them. What only resembles an address, and what
// is no name, is an error: two resolvers could read it differently.
func CanonicalHost(host string) (string, error) {
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil {
		if a.Zone() != "" {
			return "", errors.New("an address with a zone cannot be reached")
		}
		return a.Unmap().String(), nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if len(name) > 253 || slices.ContainsFunc(labels, badLabel) || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", fmt.Errorf("%.300q is not a host name", host)
	}
	return name, nil
}

func badLabel(l string) bool {
	return l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
}

func isAddress(host string) bool { _, err := netip.ParseAddr(host); return err == nil }
