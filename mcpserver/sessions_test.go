package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
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

// Connections that end while their calls begin leave no context and no program.
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

// The life of a client ends with its session.
func TestLifeOfAClient(t *testing.T) {
	life := make(chan context.Context, 1)
	s := newServer(t, newFake(), &mcpserver.Options{Tools: func(list []tools.Tool) []tools.Tool {
		invoke := list[0].Invoke
		list[0].Invoke = func(ctx context.Context, c tools.Invocation) *tools.Answer {
			life <- callers.Life(ctx)
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

// Requests that are dropped before, while and after the server reads them leave no program.
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

func TestListOfContextsIsTheClients(t *testing.T) {
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
