package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestListWhileKernelsStart: a server that fails at a kernel which it just started is
// asked again.
func TestListWhileKernelsStart(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `[{"id": "k"}]`)
	}))
	defer s.Close()
	c, err := New(Config{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if list, err := c.Kernels(t.Context()); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if list, err := c.Sessions(t.Context()); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}
