package egress

import "time"

// An Event is one connection, or one request where requests are seen.
type Event struct {
	Run        string    // of the context's run, empty between runs
	Start      time.Time //
	Protocol   string    // "http", "https", "tls", "connect", "socks5", "tcp" or "dns"
	Host       string    // canonical, or as it was asked for
	Port       int       // 0 for dns
	Method     string    // where the request was seen
	Path       string    // without the query
	Allowed    bool      //
	Reason     string    // of a refusal or a failure
	Credential string    // name of what was added
	Status     int       // of the answer
	Sent       int64     // bytes from the program
	Received   int64     // bytes to the program
	Took       time.Duration
}

// A Question asks whether a program may reach a host that no rule allows.
type Question struct {
	Run  string
	Host string // canonical
	Port int
}

// An Answer to a Question.
type Answer int

// The answers.
const (
	Refuse       Answer = iota
	AllowOnce           // this connection or request
	AllowContext        // the host, on this port, for as long as the context lives
)

// A Narrowing takes away from a policy, for one run.
type Narrowing struct {
	Off   bool     `json:"off,omitempty"`
	Hosts []string `json:"hosts,omitempty"` // nil: those of the policy; written as in [Rule]
}

// Allows reports whether the narrowing leaves a canonical host; a nil one does.
func (n *Narrowing) Allows(host string) bool {
	return n == nil || !n.Off && (n.Hosts == nil || MatchHost(n.Hosts, host))
}
