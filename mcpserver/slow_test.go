package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
)

// A pipeListener is a listener in memory, for fake time.
type pipeListener struct{ conns chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l pipeListener) Close() error   { defer func() { recover() }(); close(l.conns); return nil }
func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// send connects and writes a request with a body of the announced size, or less.
func (l pipeListener) send(body string, size int) net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	go fmt.Fprintf(client, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: run_code\r\nContent-Length: %d\r\n\r\n%s", size, body)
	return client
}

// A client that does not send its request, or does not read its answer, is disconnected,
// and its program ends.
func TestSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s, err := mcpserver.New(newWorkspace(t, f, tools.Options{Timeout: time.Hour, MaxTimeout: time.Hour}), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := pipeListener{make(chan net.Conn)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, l, nil) }()

		start := time.Now()
		conn := l.send("{", 1000)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusBadRequest || time.Since(start) > time.Minute {
			t.Errorf("after %v: %v, %v", time.Since(start), resp, err)
		}
		conn.Close()

		body := strings.Replace(runMessage("2026-07-28", "ticks 1000000"), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
		conn = l.send(body, len(body))
		time.Sleep(time.Second)
		if n, _ := f.runs(); n != 1 {
			t.Errorf("%d programs run", n)
		}
		time.Sleep(time.Minute)
		if n, ended := f.runs(); n != 0 || ended[0] != codeinterp.StatusCanceled {
			t.Errorf("%d programs run, %v ended", n, ended)
		}
		conn.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
