package codeinterp

import "time"

// A NetworkLimit is what a run may reach of the network.
type NetworkLimit struct {
	Off   bool     // nothing
	Hosts []string // only these, of those that the provider allows; nil means all of them. Without ports.
}

// A NetworkEvent is one connection of a program, or one request where requests are seen.
type NetworkEvent struct {
	Context    string        `json:"context,omitempty"` // empty for a run that has none
	Start      time.Time     `json:"start"`
	Protocol   string        `json:"protocol"` // "http", "https", "tls", "connect", "socks5", "tcp" or "dns"
	Host       string        `json:"host"`     // canonical, or as it was asked for
	Port       int           `json:"port,omitempty"`
	Method     string        `json:"method,omitempty"` // where the request was seen
	Path       string        `json:"path,omitempty"`   // without the query
	Allowed    bool          `json:"allowed"`
	Reason     string        `json:"reason,omitempty"`     // of a refusal or a failure
	Credential string        `json:"credential,omitempty"` // name of what was added
	Status     int           `json:"status,omitempty"`     // of the answer
	Sent       int64         `json:"sent"`                 // bytes from the program
	Received   int64         `json:"received"`             // bytes to the program
	Took       time.Duration `json:"tookNs"`
}
