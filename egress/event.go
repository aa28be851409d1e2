package egress

import "github.com/toolcell/toolcell/codeinterp"

// An Event is one connection, or one request where requests are seen.
type Event = codeinterp.NetworkEvent

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
