package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
)

// maxMessage is how large a message of a server may be.
const maxMessage = 16 << 20

// web is the transport of a server over HTTP.
func (s *server) web() (mcp.Transport, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: %.200q is no http or https URL", codeinterp.ErrInvalid, s.URL)
	}
	client := &http.Client{
		Transport: &guarded{host: u.Host, scheme: u.Scheme, headers: s.Headers, weigh: !s.SSE},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != u.Host || r.URL.Scheme != u.Scheme || len(via) > 5 {
				return errors.New("it leads to another host")
			}
			return nil
		},
	}
	if s.SSE {
		return &patient{Transport: &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}}, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
}

// guarded sends headers to one host, no request to another, and reads no more of
// an answer than a message may have, nor more than there is room for.
type guarded struct {
	scheme, host string
	headers      map[string]string
	weigh        bool // else the connection does: all answers come in one stream
	answers      answers
	idle         pace // of the stream of no call
}

// pause waits until a stream may be opened, and reports whether that is before ctx ends.
func (g *guarded) pause(ctx context.Context, by *caller) bool {
	if by != nil {
		return by.pace.wait(ctx, callPause, 0)
	}
	return g.idle.wait(ctx, idlePause, maxShort)
}

func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	// Checked again beside CheckRedirect: the SSE transport goes where the server's
	// endpoint event says.
	if r.URL.Host != g.host || r.URL.Scheme != g.scheme {
		return nil, errors.New("a request to another host than the server's")
	}
	// A RoundTripper must not change the request (net/http).
	r = r.Clone(r.Context())
	for k, v := range g.headers {
		r.Header.Set(k, v)
	}
	by, _ := r.Context().Value(callerKey{}).(*caller)
	if r.Method == http.MethodGet && !g.pause(r.Context(), by) {
		return nil, context.Cause(r.Context())
	}
	end := func() {}
	if isAnswer(r) {
		ctx, done, err := g.answers.begin(r.Context())
		if err != nil {
			return nil, err
		}
		r, end = r.WithContext(ctx), done
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		end()
		return nil, err
	}
	res.Body = &endingBody{res.Body, end}
	stream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	if !stream {
		res.Body = &limitedBody{res.Body, maxMessage}
	}
	if g.weigh {
		res.Body = &weighedBody{ReadCloser: res.Body, by: by, stream: stream, light: by == nil && r.Method == http.MethodGet}
		if res.StatusCode < 300 {
			res.Body = asked(r).body(res.Body, stream)
		}
	}
	return res, nil
}

// isAnswer reports whether a request carries the answer to one of the server's,
// and leaves its body to be read. A message of ours says its method at once,
// before anything that the server has chosen.
func isAnswer(r *http.Request) bool {
	if r.Method != http.MethodPost || r.Body == nil {
		return false
	}
	body := bufio.NewReader(r.Body)
	// Longer than what stands before the method in a message of ours.
	head, _ := body.Peek(96)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	return len(head) > 0 && !bytes.Contains(head, []byte(`"method":"`))
}

// endingBody is a body whose end ends something.
type endingBody struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

var errHuge = fmt.Errorf("an answer of more than %d bytes", maxMessage)

// limitedBody is a body that fails where it is too large.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errHuge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
