package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// TestStartGivenUp gives a start up in the moment in which its answer comes: the
// kernel is the caller's, or it is deleted, or its handle is returned.
func TestStartGivenUp(t *testing.T) {
	for _, status := range []int{http.StatusNoContent, http.StatusForbidden} {
		t.Run(fmt.Sprint("deletion ", status), func(t *testing.T) {
			for range 50 {
				startGivenUp(t, status)
			}
		})
	}
}

func startGivenUp(t *testing.T, status int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	deleted := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			fmt.Fprint(w, `{"id": "s", "kernel": {"id": "k"}}`)
			w.(http.Flusher).Flush()
			cancel()
		case http.MethodDelete:
			mu.Lock()
			deleted = true
			mu.Unlock()
			w.WriteHeader(status)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer s.Close()
	c, err := New(Config{URL: s.URL, StartTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	done := make(chan *Handle, 1)
	h, err := c.StartKernel(ctx, "python3", func(left *Handle) { done <- left })
	left := <-done
	mu.Lock()
	defer mu.Unlock()
	switch {
	case err == nil && (h.Kernel != "k" || deleted || left != nil):
		t.Errorf("got %v: deleted %t, left %v", h, deleted, left)
	case err != nil && !deleted:
		t.Errorf("%v: the kernel was lost", err)
	case err != nil && (left == nil) != (status == http.StatusNoContent):
		t.Errorf("%v: left %v", err, left)
	}
}
