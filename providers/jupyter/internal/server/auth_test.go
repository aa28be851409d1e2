package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestSlowLogin: who waits for the login of another call waits within its own ctx.
func TestSlowLogin(t *testing.T) {
	began := make(chan struct{}, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/login") {
			began <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer s.Close()
	c, err := New(Config{URL: s.URL, Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	first, giveUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := c.Kernels(first); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}()
	<-began
	why := errors.New("the caller's own end")
	second, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, why)
	defer cancel()
	if _, err := c.Kernels(second); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	giveUp()
	<-done
}
