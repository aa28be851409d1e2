package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
)

// end ends a session.
func end(t *testing.T, url, session string) {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), "DELETE", url, nil)
	req.Header.Set("Mcp-Session-Id", session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func TestSessionCapIsExact(t *testing.T) {
	const most, clients = 50, 1000
	url := serve(t, newServer(t, newFake(), nil), &mcpserver.HTTPOptions{MaxSessions: most})
	var mu sync.Mutex
	var sessions []string
	var refused atomic.Int32
	var wg sync.WaitGroup
	gate := make(chan struct{}, 100)
	for range clients {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			resp, err := post(t.Context(), url, "", "", initialize)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			io.Copy(io.Discard, resp.Body)
			switch resp.StatusCode {
			case http.StatusOK:
				mu.Lock()
				sessions = append(sessions, resp.Header.Get("Mcp-Session-Id"))
				mu.Unlock()
			case http.StatusServiceUnavailable:
				refused.Add(1)
			default:
				t.Errorf("initialize: %s", resp.Status)
			}
		})
	}
	wg.Wait()
	if len(sessions) != most || refused.Load() != clients-most {
		t.Fatalf("%d sessions and %d refused, of %d", len(sessions), refused.Load(), clients)
	}
	for _, id := range sessions {
		end(t, url, id)
	}
	eventually(t, "the places of sessions that ended are free", func() bool {
		resp, err := post(t.Context(), url, "", "", initialize)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func TestFailedInitializeTakesNoPlace(t *testing.T) {
	url := serve(t, newServer(t, newFake(), nil), &mcpserver.HTTPOptions{MaxSessions: 1})
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "{", "[]", "null",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		resp, err := post(t.Context(), url, "", "", body)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	open(t, url)
}

// TestNothingIsLeftOfSessionsThatEndEarly breaks connections while their calls
// begin, at all moments.
func TestNothingIsLeftOfSessionsThatEndEarly(t *testing.T) {
	f := newFake()
	s := newServer(t, f, nil)
	messages := initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for i := range 4 {
		messages += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"create_code_context","arguments":{"language":"python"}}}`+"\n", 10+i)
	}
	messages += runMessage("", "block") + "\n"
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			client, server := net.Pipe()
			if _, err := s.Connect(t.Context(), &mcp.IOTransport{Reader: server, Writer: server}); err != nil {
				t.Error(err)
				return
			}
			go io.Copy(io.Discard, client)
			io.WriteString(client, messages)
			time.Sleep(time.Duration(i*37%2000) * time.Microsecond)
			client.Close()
		})
	}
	wg.Wait()
	eventually(t, "no context and no program is left", func() bool { n, _ := f.runs(); return n == 0 && f.contexts() == 0 })
}

func TestSessionEndedWhileItsCallBegins(t *testing.T) {
	f := newFake()
	url := serve(t, newServer(t, f, nil), nil)
	for i := range 20 {
		session := open(t, url)
		var call sync.WaitGroup
		call.Go(func() {
			if resp, err := post(t.Context(), url, "2025-11-25", session, runMessage("", "block")); err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
		time.Sleep(time.Duration(i*100) * time.Microsecond)
		end(t, url, session)
		call.Wait()
		if n, _ := f.runs(); n != 0 {
			t.Fatalf("%d programs run after the session's end", n)
		}
	}
}

// TestLifeOfAClient: what a tool keeps for a client can end with its session.
func TestLifeOfAClient(t *testing.T) {
	life := make(chan context.Context, 1)
	s := newServer(t, newFake(), &mcpserver.Options{Wrap: func(list []tools.Tool) []tools.Tool {
		invoke := list[0].Invoke
		list[0].Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer {
			life <- tools.ClientLife(ctx)
			return invoke(ctx, c)
		}
		return list
	}})
	url := serve(t, s, nil)
	session := open(t, url)
	resp, err := post(t.Context(), url, "2025-11-25", session, runMessage("", "x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	its := <-life
	if its.Err() != nil {
		t.Error("it is over before the session")
	}
	end(t, url, session)
	<-its.Done()
}

// TestClientThatVanishesAtOnce drops requests before, while and after the
// server reads them.
func TestClientThatVanishesAtOnce(t *testing.T) {
	for _, rev := range revisions {
		t.Run(rev, func(t *testing.T) {
			f := newFake()
			url := serve(t, newServer(t, f, nil), nil)
			session := ""
			if rev == "2025-11-25" {
				session = open(t, url)
			}
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*100)*time.Microsecond)
					defer cancel()
					if resp, err := post(ctx, url, rev, session, runMessage(rev, "block")); err == nil {
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				})
			}
			wg.Wait()
			eventually(t, "no program is left", func() bool { n, _ := f.runs(); return n == 0 })
			if _, ended := f.runs(); len(ended) > 0 && ended[0] != codeinterp.StatusCanceled {
				t.Errorf("ended %v", ended)
			}
		})
	}
}

func TestNobodyListsTheContextsOfOthers(t *testing.T) {
	for _, tokens := range [][]string{nil, {"t"}} {
		o := tools.Options{ManageContexts: true}
		url := serve(t, newServer(t, newFake(), nil, o), &mcpserver.HTTPOptions{Tokens: tokens})
		for _, rev := range revisions {
			c := dial(t, url, strings.Join(tokens, ""), rev)
			id := newContext(t, c)
			res := call(t, c, "list_code_contexts")
			if refused := tokens == nil && rev == "2026-07-28"; refused != res.IsError || refused == strings.Contains(text(res), id) {
				t.Errorf("%s with tokens %q: %s", rev, tokens, text(res))
			}
		}
	}
}

func TestConnectAfterClose(t *testing.T) {
	s := newServer(t, newFake(), nil)
	s.Close()
	_, server := mcp.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), server); err == nil {
		t.Error("a closed server takes a client")
	}
}
