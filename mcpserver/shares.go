package mcpserver

import (
	"context"

	"github.com/toolcell/toolcell/codeinterp"
)

// A party is one of several owners of sessions and calls among whom what there is
// for all is shared, so that none shuts the others out by having many sessions.
type party struct {
	of    owner
	among int // owners, at least two; zero where there is no sharing
}

// partyOf is the party that a request of an owner is of.
func (o *HTTPOptions) partyOf(of owner) party {
	switch {
	case o.Verify != nil: // which decides in place of Tokens
		return party{of, 2} // nobody knows how many there are: one has half at most
	case len(o.Tokens) > 1:
		return party{of, len(o.Tokens)}
	}
	return party{}
}

// share is what a party gets of the given number, zero for no limit.
func (p party) share(of int) int {
	if of <= 0 || p.among == 0 {
		return 0
	}
	// One that runs for long is not to be all that an owner has.
	return max(of/p.among, min(of, 2))
}

type partyKey struct{}

// A member is a party that has clients.
type member struct {
	limit   codeinterp.Middleware // of all its clients together
	clients int
}

// join returns what limits a new client of ctx's party. cs.mu is held.
func (cs *clients) join(ctx context.Context, c *client) {
	c.limit = cs.limits.perClient()
	p, ok := ctx.Value(partyKey{}).(party)
	if !ok || p.among == 0 {
		return
	}
	m := cs.parties[p]
	if m == nil {
		l := &codeinterp.LimitOptions{Runs: p.share(cs.limits.TotalRuns), Contexts: p.share(cs.limits.TotalContexts)}
		m = &member{limit: codeinterp.Limit(l)}
		cs.parties[p] = m
	}
	m.clients++
	own := c.limit
	c.party = p
	c.limit = func(next codeinterp.Handler) codeinterp.Handler { return own(m.limit(next)) }
}

// part ends c's membership. cs.mu is held.
func (cs *clients) part(c *client) {
	if m := cs.parties[c.party]; m != nil {
		if m.clients--; m.clients == 0 {
			delete(cs.parties, c.party)
		}
	}
}
