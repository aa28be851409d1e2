package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// ErrPolicy: a policy, or a rule of it, is malformed.
var ErrPolicy = errors.New("invalid egress policy")

// A Mode says how much of the network a program may reach.
type Mode int

// The modes.
const (
	Off   Mode = iota // nothing
	Hosts             // what the rules allow
	Open              // every public address, and what the rules allow beside those
	Host              // the host's own network, localhost and metadata services included; no gate is in between
)

var modes = []string{"off", "hosts", "open", "host"}

// String returns "off", "hosts", "open" or "host".
func (m Mode) String() string {
	if m < 0 || int(m) >= len(modes) {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return modes[m]
}

// MarshalText returns the mode's name.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText accepts the names of the modes.
func (m *Mode) UnmarshalText(b []byte) error {
	i := slices.Index(modes, string(b))
	if i < 0 {
		return fmt.Errorf("%w: mode %q is not one of %s", ErrPolicy, b, strings.Join(modes, ", "))
	}
	*m = Mode(i)
	return nil
}

// A Policy says what programs may reach. The zero value allows nothing.
type Policy struct {
	Mode  Mode   `json:"mode"`
	Rules []Rule `json:"rules,omitempty"` // for Hosts and Open

	// Deny lists addresses that are refused even if a rule lists them.
	Deny []netip.Prefix `json:"deny,omitempty"`

	// Limits bounds what the programs of one context do at a time.
	Limits Limits `json:"limits,omitzero"`
}

// A Rule allows requests to hosts. Empty lists mean: ports 80 and 443, every method,
// every path.
type Rule struct {
	// Hosts are names ("api.example.com"), all names below one ("*.example.com"),
	// addresses ("192.0.2.7"), or "*".
	Hosts []string `json:"hosts"`
	Ports []int    `json:"ports,omitempty"`

	// Methods are in upper case. HEAD is allowed where GET is.
	Methods []string `json:"methods,omitempty"`

	// Paths are exact ("/v1/me"), or, with a star at the end, what begins so
	// ("/v1/*"). They are compared with the decoded path; one that a server could
	// read in two ways (with "..", "//", encoded slashes or dots) is refused.
	Paths []string `json:"paths,omitempty"`

	// Addresses lists addresses that are not public and that the rule's hosts may
	// have, such as 10.1.0.0/16.
	Addresses []netip.Prefix `json:"addresses,omitempty"`

	// Raw allows any protocol over TCP; nothing of it is looked at. Without it only
	// HTTP and TLS pass.
	Raw bool `json:"raw,omitempty"`

	// Inspect looks at the requests within TLS although nothing else in the rule needs
	// it, and refuses those that name another host.
	Inspect bool `json:"inspect,omitempty"`

	// Credential adds what [Secrets] has for the request, which is refused where that
	// has none.
	Credential bool `json:"credential,omitempty"`

	// Insecure adds the credential to requests over http:// too.
	Insecure bool `json:"insecure,omitempty"`
}

// Limits bounds the network use of one context. Zero fields have the defaults in
// brackets.
type Limits struct {
	Connections int   `json:"connections,omitempty"` // open at a time [64]
	Bytes       int64 `json:"bytes,omitempty"`       // sent and received by one run [no limit]
}

// Inspects reports whether requests to the rule's hosts are looked at within TLS.
func (r *Rule) Inspects() bool {
	return r.Inspect || r.Credential || len(r.Methods) > 0 || len(r.Paths) > 0
}

// Validate returns an error that wraps ErrPolicy if something in the policy is
// malformed.
func (p *Policy) Validate() error {
	switch {
	case p.Mode < Off || p.Mode > Host:
		return fmt.Errorf("%w: mode %d", ErrPolicy, p.Mode)
	case len(p.Rules) > 0 && p.Mode != Hosts && p.Mode != Open:
		return fmt.Errorf("%w: rules need the mode hosts or open", ErrPolicy)
	case p.Limits.Connections < 0 || p.Limits.Bytes < 0:
		return fmt.Errorf("%w: negative limit", ErrPolicy)
	}
	for i := range p.Rules {
		if err := p.Rules[i].validate(); err != nil {
			return fmt.Errorf("%w: rule %d: %w", ErrPolicy, i+1, err)
		}
	}
	return nil
}

func (r *Rule) validate() error {
	if len(r.Hosts) == 0 {
		return errors.New("it has no hosts")
	}
	for _, h := range r.Hosts {
		if err := validPattern(h); err != nil {
			return err
		}
	}
	for _, port := range r.Ports {
		if port < 1 || port > 65535 {
			return fmt.Errorf("port %d", port)
		}
	}
	for _, m := range r.Methods {
		if m == "" || m != strings.ToUpper(m) || strings.ContainsAny(m, " \t\r\n") {
			return fmt.Errorf("method %q", m)
		}
	}
	for _, path := range r.Paths {
		if !strings.HasPrefix(path, "/") || strings.Contains(strings.TrimSuffix(path, "*"), "*") {
			return fmt.Errorf("path %q: a path begins with / and has a star at its end only", path)
		}
	}
	if r.Raw && r.Inspects() {
		return errors.New("raw connections cannot be inspected")
	}
	return nil
}

// validPattern checks one of a rule's hosts.
func validPattern(h string) error {
	if h == "*" {
		return nil
	}
	name := strings.TrimPrefix(h, "*.")
	canonical, err := CanonicalHost(name)
	if err != nil {
		return err
	}
	if canonical != name || name != h && isAddress(name) {
		return fmt.Errorf("host %q is written %q", h, canonical)
	}
	return nil
}
