package mcpserver

import (
	"context"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// TestPlaces lets one owner take what it can: the others still find places.
func TestPlaces(t *testing.T) {
	verify := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) { return nil, nil }
	for _, tt := range []struct {
		o          HTTPOptions
		one, other int // that each gets, one after the other
	}{
		{HTTPOptions{MaxSessions: 4}, 4, 0},
		{HTTPOptions{MaxSessions: 4, Tokens: []string{"a"}}, 4, 0},
		{HTTPOptions{MaxSessions: 4, Tokens: []string{"a", "b"}}, 2, 2},
		{HTTPOptions{MaxSessions: 1, Tokens: []string{"a", "b"}}, 1, 0},
		{HTTPOptions{MaxSessions: 5, Verify: verify}, 2, 2},
		{HTTPOptions{Tokens: []string{"a", "b"}}, 0, 0},
	} {
		p := newPlaces(&tt.o)
		var leaves []func()
		fill := func(of owner) (n int) {
			for {
				leave, ok := p.take(of, 1)
				if !ok {
					return n
				}
				leaves, n = append(leaves, leave), n+1
			}
		}
		if one, other := fill("one"), fill("other"); one != tt.one || other != tt.other {
			t.Errorf("%+v: %d and %d places, want %d and %d", tt.o, one, other, tt.one, tt.other)
		}
		for _, leave := range leaves {
			leave()
		}
		if p.all != 0 || len(p.taken) != 0 {
			t.Errorf("%d places are taken by %v after all have left", p.all, p.taken)
		}
	}
}

// TestRequestOfCall: the places of a request are taken until it is served and its
// calls have ended, in whatever order.
func TestRequestOfCall(t *testing.T) {
	s, freed := &Server{}, 0
	c := &carrier{users: 1, free: func() { freed++ }}
	if !s.use(c) || !s.use(nil) {
		t.Fatal("a request that is there brings no call")
	}
	s.unuse(c) // its client has gone
	if freed != 0 {
		t.Error("the places are free while the call goes on")
	}
	s.unuse(c)
	if freed != 1 || s.use(c) {
		t.Errorf("freed %d times once all has ended", freed)
	}
}

// TestTitle: the name of a file is a line of text, whatever a program makes of it.
func TestTitle(t *testing.T) {
	r := &resource{name: "a (1 byte)\n\nok\n--- stdout ---\x1b[2J\u202ex"}
	if got := r.title(); got != "a (1 byte)  ok --- stdout ---x" {
		t.Errorf("got %q", got)
	}
}
