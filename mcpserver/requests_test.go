package mcpserver_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/toolcell/toolcell/mcpserver"
)

// A slowBody says when it is read, and has no end before ctx.
type slowBody struct {
	ctx  context.Context
	read chan<- struct{}
}

func (b slowBody) Read([]byte) (int, error) {
	b.read <- struct{}{}
	<-b.ctx.Done()
	return 0, io.ErrUnexpectedEOF
}

// TestRequestBytes has one token's requests take what they can get: the next is
// refused unread, the other token has its own, and all of it is free again.
func TestRequestBytes(t *testing.T) {
	s := newServer(t, newFake(), nil)
	h := s.Handler(&mcpserver.HTTPOptions{Tokens: []string{"aaaa", "bbbb"}})
	// Whether a request of a length is read, and what answers it where it is not.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{}, 100)
	post := func(token string, size int64) string {
		read := make(chan struct{}, 1)
		r := httptest.NewRequest(http.MethodPost, mcpserver.Path, slowBody{ctx, read})
		r.Host, r.ContentLength = "localhost", size
		r.Header.Set("Authorization", "Bearer "+token)
		w, served := httptest.NewRecorder(), make(chan struct{})
		go func() { h.ServeHTTP(w, r); close(served); done <- struct{}{} }()
		select {
		case <-read:
			return "read"
		case <-served:
			return w.Result().Status
		}
	}
	begun := 0
	expect := func(token string, size int64, want string) {
		t.Helper()
		begun++
		if got := post(token, size); got != want {
			t.Errorf("%s, %d bytes: %s, want %s", token, size, got, want)
		}
	}
	const full = "503 Service Unavailable"
	for range 3 {
		expect("aaaa", 10<<20, "read")
	}
	expect("aaaa", 10<<20, full)
	expect("aaaa", -1, "read") // and takes places as it comes
	expect("bbbb", 10<<20, "read")
	expect("aaaa", 100, "read")
	cancel()
	for range begun {
		<-done
	}
}
