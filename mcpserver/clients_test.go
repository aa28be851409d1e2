package mcpserver_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
)

func TestContextsBelongToTheirClient(t *testing.T) {
	f := newFake()
	s := newServer(t, f, nil, tools.Options{ManageContexts: true})
	a, b := connect(t, s, nil), connect(t, s, nil)
	id := newContext(t, a)
	call(t, a, "run_in_code_context", "contextId", id, "code", "set secret")
	for _, tool := range []string{"run_in_code_context", "delete_code_context", "restart_code_context", "interrupt_code_context"} {
		args := []any{"contextId", id}
		if tool == "run_in_code_context" {
			args = append(args, "code", "get")
		}
		if res := call(t, b, tool, args...); !res.IsError || !strings.Contains(text(res), "context_not_found") || strings.Contains(text(res), "secret") {
			t.Errorf("%s by another client: %s", tool, text(res))
		}
	}
	if res := call(t, b, "list_code_contexts"); strings.Contains(text(res), id) {
		t.Errorf("another client lists it: %s", text(res))
	}
	if res := call(t, a, "list_code_contexts"); !strings.Contains(text(res), id) {
		t.Errorf("its client does not list it: %s", text(res))
	}
	if res := call(t, a, "run_in_code_context", "contextId", id, "code", "get"); !strings.Contains(text(res), "secret") {
		t.Errorf("its client: %s", text(res))
	}
	a.Close()
	eventually(t, "contexts end with their session", func() bool { return f.contexts() == 0 })
}

func TestContextCap(t *testing.T) {
	s := newServer(t, newFake(), &mcpserver.Options{Limits: mcpserver.Limits{Contexts: 2, TotalContexts: 3}})
	a, b := connect(t, s, nil), connect(t, s, nil)
	create := func(c *mcp.ClientSession) *mcp.CallToolResult {
		return call(t, c, "create_code_context", "language", "python")
	}
	id := newContext(t, a)
	newContext(t, a)
	if res := create(a); !res.IsError || !strings.Contains(text(res), "capacity") {
		t.Errorf("a third context: %s", text(res))
	}
	newContext(t, b)
	if res := create(b); !res.IsError || !strings.Contains(text(res), "capacity") {
		t.Errorf("a fourth context of all: %s", text(res))
	}
	call(t, a, "delete_code_context", "contextId", id)
	newContext(t, b)
}

// bubble runs fn in a bubble of fake time, with a server and a client.
func bubble(t *testing.T, o *mcpserver.Options, fn func(t *testing.T, f *fake, c *mcp.ClientSession)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s, err := mcpserver.New(newWorkspace(t, f, tools.Options{MaxTimeout: time.Hour}), o)
		if err != nil {
			t.Fatal(err)
		}
		c := connect(t, s, nil)
		fn(t, f, c)
		s.Close()
		c.Close()
		if f.contexts() != 0 {
			t.Errorf("%d contexts are left", f.contexts())
		}
	})
}

func TestIdleContextsExpire(t *testing.T) {
	bubble(t, &mcpserver.Options{Limits: mcpserver.Limits{Contexts: 1}}, func(t *testing.T, f *fake, c *mcp.ClientSession) {
		id := newContext(t, c)
		run := func(code string) *mcp.CallToolResult {
			return call(t, c, "run_in_code_context", "contextId", id, "code", code)
		}
		for range 5 {
			time.Sleep(mcpserver.DefaultIdle - time.Minute)
			if res := run("print x"); res.IsError {
				t.Fatalf("used every 29 minutes: %s", text(res))
			}
		}
		time.Sleep(mcpserver.DefaultIdle + time.Second)
		if f.contexts() != 0 {
			t.Error("an idle context is still alive")
		}
		if res := run("print x"); !res.IsError || !strings.Contains(text(res), "context_not_found") || !strings.Contains(text(res), "create a new one") {
			t.Errorf("an expired context: %s", text(res))
		}
		newContext(t, c)
	})
}

func TestContextsDoNotExpireUnderARun(t *testing.T) {
	o := &mcpserver.Options{Limits: mcpserver.Limits{Idle: time.Minute}}
	bubble(t, o, func(t *testing.T, _ *fake, c *mcp.ClientSession) {
		id := newContext(t, c)
		res := call(t, c, "run_in_code_context", "contextId", id, "code", "block", "timeoutMs", (20 * time.Minute).Milliseconds())
		if res.IsError || structured(t, res)["status"] != string(codeinterp.StatusTimeout) {
			t.Errorf("a run that takes longer: %s", text(res))
		}
		if res := call(t, c, "run_in_code_context", "contextId", id, "code", "print x"); res.IsError {
			t.Errorf("after the run: %s", text(res))
		}
	})
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
