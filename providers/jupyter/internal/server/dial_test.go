package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
