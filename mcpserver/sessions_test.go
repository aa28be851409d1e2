package mcpserver_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
)

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
