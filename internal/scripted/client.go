package scripted

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Client returns an http.Client whose requests are served by h within the
// process, whatever host they name. Responses stream, and ending a request's
// context ends it on both sides.
func Client(h http.Handler) *http.Client {
	return &http.Client{Transport: transport{h}}
}

type transport struct{ handler http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, in := io.Pipe()
	w := &response{header: http.Header{}, body: in, started: make(chan struct{})}
	ctx := r.Context()
	served := context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		defer served()
		w.serve(t.handler, r)
	}()
	select {
	case <-w.started:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: -1, Request: r,
	}, nil
}

// serve runs the handler to its end. A handler that panics breaks the
// connection.
func (w *response) serve(h http.Handler, r *http.Request) {
	defer func() {
		if recover() != nil {
			w.body.CloseWithError(io.ErrUnexpectedEOF)
		}
		w.WriteHeader(http.StatusOK)
		w.body.CloseWithError(r.Context().Err())
		if r.Body != nil {
			r.Body.Close()
		}
	}()
	h.ServeHTTP(w, r)
}

// response is what a handler writes to.
type response struct {
	header  http.Header
	body    *io.PipeWriter
	once    sync.Once
	started chan struct{} // closed when status and sent are set
	status  int
	sent    http.Header
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.started)
	})
}

func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func (w *response) FlushError() error { return nil }
