package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
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

// A pipeListener is a listener in memory, for bubbles of fake time.
type pipeListener struct {
	conns chan net.Conn
	over  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{make(chan net.Conn), make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	select {
	case <-l.over:
	default:
		close(l.over)
	}
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}

// slow serves in a bubble of fake time, and ends when fn has returned, at once.
func slow(t *testing.T, fn func(t *testing.T, f *fake, l *pipeListener)) {
	slowly(t, 2*time.Second, fn)
}

// slowly is slow, for a server that may take some time to end.
func slowly(t *testing.T, most time.Duration, fn func(t *testing.T, f *fake, l *pipeListener)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s, err := mcpserver.New(newWorkspace(t, f, tools.Options{Timeout: time.Hour, MaxTimeout: time.Hour}), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := newPipeListener()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, l, &mcpserver.HTTPOptions{Tokens: []string{"t"}}) }()
		fn(t, f, l)
		start := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d > most {
			t.Errorf("it took %v to end", d)
		}
	})
}

func TestConnectionsThatAreNotUsedDoNotHoldTheServer(t *testing.T) {
	slow(t, func(t *testing.T, f *fake, l *pipeListener) {
		conn := l.dial()
		t.Cleanup(func() { conn.Close() })
		synctest.Wait()
	})
}

// TestServerEndsBesideAnswersNotRead: whoever ends a server kills it after ten seconds.
func TestServerEndsBesideAnswersNotRead(t *testing.T) {
	slowly(t, 9*time.Second, func(t *testing.T, f *fake, l *pipeListener) {
		conn := l.dial()
		t.Cleanup(func() { conn.Close() })
		body := runMessage("2026-07-28", "print x")
		send(conn, "t", body, len(body))
		synctest.Wait()
	})
}

// send writes a request with a body of the announced size, or less.
func send(w io.Writer, token, body string, size int) { sendAs(w, token, modern, body, size) }

// modern are the headers of a call of run_code without a session.
const modern = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: run_code\r\n"

func sendAs(w io.Writer, token, headers, body string, size int) {
	fmt.Fprintf(w, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", token, headers, size, body)
}

func TestConnectionsAreUsedAgainAfterAWhile(t *testing.T) {
	slow(t, func(t *testing.T, f *fake, l *pipeListener) {
		conn := l.dial()
		defer conn.Close()
		answers := bufio.NewReader(conn)
		for i, token := range []string{"t", "wrong", "t"} {
			body := runMessage("2026-07-28", "print x")
			go send(conn, token, body, len(body))
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			io.Copy(io.Discard, resp.Body)
			if want := map[string]int{"t": 200, "wrong": 401}[token]; resp.StatusCode != want {
				t.Errorf("request %d: %s", i, resp.Status)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestClientThatDoesNotSend(t *testing.T) {
	slow(t, func(t *testing.T, f *fake, l *pipeListener) {
		for token, want := range map[string]int{"t": 400, "wrong": 401} {
			conn := l.dial()
			go send(conn, token, "{", 1000)
			start := time.Now()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != want || time.Since(start) > time.Minute {
				t.Errorf("%s: after %v: %v, %v", token, time.Since(start), resp, err)
			}
			conn.Close()
		}
	})
}

func TestClientThatDoesNotReadLosesItsProgram(t *testing.T) {
	for _, rev := range revisions {
		t.Run(rev, func(t *testing.T) {
			slow(t, func(t *testing.T, f *fake, l *pipeListener) {
				conn := l.dial()
				defer conn.Close()
				body := strings.Replace(runMessage(rev, "ticks 1000000"), `"name"`, `"_meta":{"progressToken":"p"},"name"`, 1)
				head := "Mcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + session(t, l, rev) + "\r\n"
				if rev == "2026-07-28" {
					body = strings.Replace(runMessage(rev, "ticks 1000000"), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
					head = modern
				}
				sendAs(conn, "t", head, body, len(body))
				time.Sleep(time.Second)
				if n, _ := f.runs(); n != 1 {
					t.Fatalf("%d programs run", n)
				}
				time.Sleep(time.Minute)
				if n, ended := f.runs(); n != 0 || ended[0] != codeinterp.StatusCanceled {
					t.Errorf("%d programs run, %v ended", n, ended)
				}
			})
		})
	}
}

// session opens a session where the revision has them, and returns its id.
func session(t *testing.T, l *pipeListener, rev string) string {
	t.Helper()
	if rev == "2026-07-28" {
		return ""
	}
	conn := l.dial()
	defer conn.Close()
	go sendAs(conn, "t", "", initialize, len(initialize))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	id := resp.Header.Get("Mcp-Session-Id")
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || id == "" {
		t.Fatalf("session %q, %v", id, err)
	}
	return id
}
