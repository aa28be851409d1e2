package mcpserver

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Defaults of [Limits].
const (
	DefaultContexts      = 8
	DefaultTotalContexts = 64
	DefaultRuns          = 64
	DefaultQueue         = 256
	DefaultIdle          = 30 * time.Minute
)

// Limits bound the resources of clients. In each field zero means the default and a
// negative value no limit.
type Limits struct {
	// Contexts is how many contexts one client has at a time, TotalContexts how
	// many all clients have together.
	Contexts, TotalContexts int

	// Runs is how many programs run at a time. Up to Queue programs wait; further calls
	// fail with the code capacity. A negative Queue means that no program waits.
	Runs, Queue int

	// Idle is how long a context lives without a call on it.
	Idle time.Duration
}

// complete returns l with the defaults filled in, and 0 for no limit.
func (l Limits) complete() Limits {
	return Limits{
		Contexts:      max(cmp.Or(l.Contexts, DefaultContexts), 0),
		TotalContexts: max(cmp.Or(l.TotalContexts, DefaultTotalContexts), 0),
		Runs:          max(cmp.Or(l.Runs, DefaultRuns), 0),
		Queue:         max(cmp.Or(l.Queue, DefaultQueue), -1),
		Idle:          max(cmp.Or(l.Idle, DefaultIdle), 0),
	}
}

func (l *Limits) perClient() codeinterp.Middleware {
	return codeinterp.Limit(&codeinterp.LimitOptions{Contexts: l.Contexts})
}

func (l *Limits) total() codeinterp.Middleware {
	return codeinterp.Limit(&codeinterp.LimitOptions{Runs: l.Runs, Queue: l.Queue, Contexts: l.TotalContexts})
}

// idle returns how long a context lives without a call on it.
func (l *Limits) idle() time.Duration {
	if l.Idle <= 0 {
		return math.MaxInt64
	}
	return l.Idle
}

// describe says to the model when the server deletes its contexts.
func (l *Limits) describe() string {
	if l.Idle <= 0 {
		return ""
	}
	return "The server deletes a context after " + shown(l.Idle) + " without a call on it; after that its contextId is unknown: create a new context."
}

// shown renders a duration without zero units, such as 30m.
func shown(d time.Duration) string {
	return strings.Replace(strings.Replace(d.String(), "m0s", "m", 1), "h0m", "h", 1)
}
