// Package egress says which hosts a program may reach, and which credentials
// are added to its requests on the way out, so that no credential is inside
// the program's reach.
//
//	policy := egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{
//		{Hosts: []string{"api.example.com"}, Methods: []string{"GET"}, Paths: []string{"/v1/*"}, Credential: true},
//		{Hosts: []string{"*.files.example.com"}},
//	}}
//	secrets := egress.Static{"api.example.com": egress.Bearer("reports", token)}
//
// A Policy is plain data: it can be read from JSON, compared and printed. The
// package [github.com/toolcell/toolcell/egress/gate] enforces it: it answers the
// connections of programs, and makes those that the policy allows.
//
// # Rules
//
// A request is allowed if a rule has its host, port, method and path. A rule with
// Methods, Paths or Credential, or with Inspect, has to see requests: TLS to its hosts
// ends in the host process, with a certificate of an authority that exists in memory
// only. TLS to other hosts is passed on as it is, after the name in its hello was
// compared with the host.
//
// A name is resolved once by the host process; the address that was checked is
// the one that is dialled. Addresses that are not public (private, link-local,
// metadata services, the machine's own) are refused unless a rule lists them in
// Addresses.
//
// # Limits
//
//   - A host that is allowed and stores or relays data for others can carry data
//     out. Methods and Paths narrow that.
//   - In a tunnel that is not inspected, a server that answers for several hosts
//     (a content delivery network) can be asked for another of them. Inspect
//     closes this.
//   - Answers are searched for the credential, whole, in pieces of 8 bytes and more,
//     and in hexadecimal, base64 and URL encodings. Other encodings, and shorter
//     pieces, pass.
//   - In the mode Open, a rule narrows a host by its name; its address is reached as any
//     public one.
//   - Clients that pin certificates or present their own cannot be inspected.
package egress
