package mcpserver

import (
	"cmp"
	"math"
	"strconv"
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
	DefaultIdle          = 30 * time.Minute
	DefaultLifetime      = 8 * time.Hour
)

// queue is how many runs of one client may wait for a slot.
const queue = 64

// Limits says how much clients get. In each field zero means the default and
// a negative value no limit. Of what all clients have together each of several
// HTTP tokens gets an equal share for all its sessions, one at least, and a user of
// [HTTPOptions].Verify half at most, so that none shuts the others out.
type Limits struct {
	// Contexts is how many contexts one client has at a time, TotalContexts
	// how many all clients have together.
	Contexts, TotalContexts int

	// Runs is how many programs of one client run at a time, TotalRuns how
	// many of all clients together. Further ones wait.
	Runs, TotalRuns int

	// Idle is after how long without a call on it a context is deleted.
	Idle time.Duration

	// Lifetime is after how long a context is deleted however much it is
	// used. A program that is running then may finish.
	Lifetime time.Duration
}

// complete returns l with the defaults filled in, and 0 for no limit.
func (l Limits) complete() Limits {
	return Limits{
		Contexts:      max(cmp.Or(l.Contexts, DefaultContexts), 0),
		TotalContexts: max(cmp.Or(l.TotalContexts, DefaultTotalContexts), 0),
		Runs:          max(cmp.Or(l.Runs, DefaultRuns), 0),
		TotalRuns:     max(cmp.Or(l.TotalRuns, DefaultTotalRuns), 0),
		Idle:          max(cmp.Or(l.Idle, DefaultIdle), 0),
		Lifetime:      max(cmp.Or(l.Lifetime, DefaultLifetime), 0),
	}
}

func (l *Limits) perClient() codeinterp.Middleware {
	return codeinterp.Limit(&codeinterp.LimitOptions{Runs: l.Runs, Queue: queue, Contexts: l.Contexts})
}

func (l *Limits) total() codeinterp.Middleware {
	return codeinterp.Limit(&codeinterp.LimitOptions{Runs: l.TotalRuns, Contexts: l.TotalContexts})
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

// describe says to a model when its contexts end by themselves.
func (l *Limits) describe() (ends string) {
	var when []string
	if l.Idle > 0 {
		when = append(when, "after "+span(l.Idle)+" without a call on it")
	}
	if l.Lifetime > 0 {
		when = append(when, span(l.Lifetime)+" after it was created")
	}
	if len(when) > 0 {
		ends = "The server deletes a context " + strings.Join(when, ", and ") + "; its contextId is not found any more then: create a new context."
	}
	return ends
}

// span renders a duration in the largest unit that fits it exactly.
func span(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if d >= u.size && d%u.size == 0 {
			n := int64(d / u.size)
			if n == 1 {
				return "1 " + u.name
			}
			return strconv.FormatInt(n, 10) + " " + u.name + "s"
		}
	}
	return d.String()
}
