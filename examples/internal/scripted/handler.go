package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// maxRequest is how large a request's body may be.
const maxRequest = 32 << 20

// An api is the form of a vendor's requests and answers.
type api interface {
	// read decodes a body.
	read(h http.Header, body []byte) (*Conversation, error)
	// parts returns a turn as the events of a stream.
	parts(t Turn) []event
}

// An event is one of a stream. Its data is JSON, but for a json.RawMessage.
type event struct {
	name string // may be empty
	data any
}

// Handler serves the model at POST .../chat/completions, as OpenAI does, and
// at POST .../messages, as Anthropic does. Its answers are streams. A key must be given
// and may be any.
func Handler(m Model) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var form api = openAI{}
		if strings.HasSuffix(r.URL.Path, "/messages") {
			form = anthropic{}
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		var c *Conversation
		if err == nil {
			c, err = form.read(r.Header, body)
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"type": "error",
				"error": map[string]any{"type": "invalid_request_error", "message": err.Error()}})
			return
		}
		t := m(r.Context(), c)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, e := range form.parts(t) {
			e.write(w)
		}
	})
}

func (e event) write(w http.ResponseWriter) {
	data, raw := e.data.(json.RawMessage)
	if !raw {
		data, _ = json.Marshal(e.data)
	}
	if e.name != "" {
		fmt.Fprintf(w, "event: %s\n", e.name)
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

// halves cuts text into what arrives at a time.
func halves(text string) []string {
	n := len(text) / 2
	for n < len(text) && text[n]&0xC0 == 0x80 { // within a character
		n++
	}
	return []string{text[:n], text[n:]}
}

// reason returns why a turn ended.
func (t Turn) reason(done, calls string) string {
	if len(t.Calls) > 0 {
		return calls
	}
	return done
}

// Client returns an http.Client whose requests are served by h within the
// process, whatever host they name.
func Client(h http.Handler) *http.Client {
	dial := func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		l := listener{make(chan net.Conn, 1)}
		l.conns <- there
		close(l.conns)
		go func() { _ = http.Serve(l, h) }()
		return here, nil
	}
	// A connection that DialTLSContext returns is taken for one that is encrypted
	// already.
	return &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true}}
}

// A listener accepts the connections that it was made with.
type listener struct{ conns chan net.Conn }

func (l listener) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (listener) Close() error   { return nil }
func (listener) Addr() net.Addr { return &net.UnixAddr{Name: "scripted", Net: "pipe"} }
