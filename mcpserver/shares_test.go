package mcpserver_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/mcpserver"
)

// TestSharesOfTokens has one token's sessions take what they can get: another's
// have their contexts and their runs all the same, and what sessions leave is free
// again.
func TestSharesOfTokens(t *testing.T) {
	for _, rev := range revisions {
		t.Run(rev, func(t *testing.T) {
			f := newFake()
			s := newServer(t, f, &mcpserver.Options{Limits: mcpserver.Limits{TotalContexts: 6, TotalRuns: 4}})
			url := serve(t, s, &mcpserver.HTTPOptions{Tokens: []string{"aaaa", "bbbb"}})
			fill := func(token string) (made int, sessions []*mcp.ClientSession) {
				for range 4 {
					c := dial(t, url, token, rev)
					sessions = append(sessions, c)
					for range 4 {
						if res := call(t, c, "create_code_context", "language", "python"); !res.IsError {
							made++
						} else if !strings.Contains(text(res), "capacity") {
							t.Errorf("refused with %s", text(res))
						}
					}
				}
				return made, sessions
			}
			made, sessions := fill("aaaa")
			if made != 3 {
				t.Errorf("one of two tokens has %d of 6 contexts", made)
			}
			if made, _ := fill("bbbb"); made != 3 {
				t.Errorf("the other one has %d of 6 contexts", made)
			}
			stop := blockAll(t, sessions, 4)
			eventually(t, "two programs of a token run", func() bool { n, _ := f.runs(); return n == 2 })
			if res := call(t, dial(t, url, "bbbb", rev), "run_code", "language", "python", "code", "x"); res.IsError {
				t.Errorf("the other token's program: %s", text(res))
			}
			stop()
			if rev == "2025-11-25" {
				for _, c := range sessions {
					c.Close()
				}
				eventually(t, "its contexts end", func() bool { return f.contexts() == 3 })
				if made, _ := fill("aaaa"); made != 3 {
					t.Errorf("after its sessions have ended it has %d of 6 contexts", made)
				}
			}
		})
	}
}

// blockAll begins programs in each session that do not end before stop.
func blockAll(t *testing.T, sessions []*mcp.ClientSession, each int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, c := range sessions {
		for range each {
			wg.Go(func() {
				_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": "python", "code": "block"}})
			})
		}
	}
	return func() { cancel(); wg.Wait() }
}

// TestShareOfATokenGivenTwice: it has what there is, as one that is given once.
func TestShareOfATokenGivenTwice(t *testing.T) {
	s := newServer(t, newFake(), &mcpserver.Options{Limits: mcpserver.Limits{TotalContexts: 4}})
	c := dial(t, serve(t, s, &mcpserver.HTTPOptions{Tokens: []string{"aaaa", "aaaa"}}), "aaaa", revisions[0])
	for range 4 {
		if res := call(t, c, "create_code_context", "language", "python"); res.IsError {
			t.Errorf("refused with %s", text(res))
		}
	}
}
