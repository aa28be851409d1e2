package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestHandshakeFlood opens a socket at a server whose headers have no end.
func TestHandshakeFlood(t *testing.T) {
	sent := 0
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(over)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n")
		for line := "X: " + strings.Repeat("x", 1<<10) + "\r\n"; err == nil && sent < 256<<20; sent += len(line) {
			_, err = io.WriteString(conn, line)
		}
	}))
	defer s.Close()
	c, err := New(Config{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, _, err := c.Dial(t.Context(), "k", "s"); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if <-over; sent >= 256<<20 {
		t.Errorf("it took %d bytes", sent)
	}
}

// TestDialGivenUp gives a handshake up at the moment when its connection is there, to
// a server that says nothing.
func TestDialGivenUp(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := New(Config{URL: "http://" + ln.Addr().String(), HTTPClient: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		cancel()
		time.Sleep(100 * time.Millisecond) // who waits for the end looks for a connection
		return conn, err
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	done := make(chan error, 1)
	go func() {
		_, _, err := c.Dial(ctx, "k", "s")
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for ever")
	}
}
