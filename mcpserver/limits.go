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
	DefaultRuns          = 8
	DefaultTotalContexts = 64
	DefaultTotalRuns     = 64
	DefaultQueue         = 64
	DefaultTotalQueue    = 256
	DefaultIdle          = 30 * time.Minute
	DefaultLifetime      = 8 * time.Hour
)

// Limits bound the resources of clients. In each field zero means the default and a negative value
// no limit.
type Limits struct {
	// Contexts is how many contexts one client has at a time, TotalContexts how
	// many all clients have together.
	Contexts, TotalContexts int

	// Runs is how many programs of one client run at a time, TotalRuns how many of
	// all clients together. Up to Queue programs of each client and TotalQueue of all
	// wait; further calls fail with the code capacity. A negative TotalQueue means
	// that no program waits.
	Runs, TotalRuns, Queue, TotalQueue int

	// Idle is how long a context lives without a call on it.
	Idle time.Duration

	// Lifetime is how long a context lives at most. A run in progress may finish.
	Lifetime time.Duration
}

// complete returns l with the defaults filled in, and 0 for no limit.
func (l Limits) complete() Limits {
	return Limits{
		Contexts:      max(cmp.Or(l.Contexts, DefaultContexts), 0),
		TotalContexts: max(cmp.Or(l.TotalContexts, DefaultTotalContexts), 0),
		Runs:          max(cmp.Or(l.Runs, DefaultRuns), 0),
		TotalRuns:     max(cmp.Or(l.TotalRuns, DefaultTotalRuns), 0),
		Queue:         max(cmp.Or(l.Queue, DefaultQueue), -1),
		TotalQueue:    max(cmp.Or(l.TotalQueue, DefaultTotalQueue), -1),
		Idle:          max(cmp.Or(l.Idle, DefaultIdle), 0),
		Lifetime:      max(cmp.Or(l.Lifetime, DefaultLifetime), 0),
	}
}

func (l *Limits) perClient() codeinterp.Middleware {
	return codeinterp.Limit(&codeinterp.LimitOptions{Runs: l.Runs, Queue: l.Queue, Contexts: l.Contexts})
}

func (l *Limits) total() codeinterp.Middleware {
	return codeinterp.Limit(&codeinterp.LimitOptions{Runs: l.TotalRuns, Queue: l.TotalQueue, Contexts: l.TotalContexts})
}

// wait returns how long an unused lease lasts from now on.
func (l *Limits) wait(le *lease) time.Duration {
	d := l.Idle
	if d <= 0 {
		d = math.MaxInt64
	}
	if !le.until.IsZero() {
		d = min(d, time.Until(le.until))
	}
	return d
}

// describe tells the model when the server deletes its contexts.
func (l *Limits) describe() (ends string) {
	var when []string
	if l.Idle > 0 {
		when = append(when, "after "+shown(l.Idle)+" without a call on it")
	}
	if l.Lifetime > 0 {
		when = append(when, shown(l.Lifetime)+" after it was created")
	}
	if len(when) > 0 {
		ends = "The server deletes a context " + strings.Join(when, ", and ") + "; after that its contextId is unknown: create a new context."
	}
	return ends
}

// shown renders a duration without zero units, such as 30m.
func shown(d time.Duration) string {
	return strings.Replace(strings.Replace(d.String(), "m0s", "m", 1), "h0m", "h", 1)
}
