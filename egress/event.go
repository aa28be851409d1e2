package egress

import "time"

// An Event is one connection, or one request where requests are seen.
type Event struct {
	Context    string    // of the interpreter, empty for a run that has none
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
