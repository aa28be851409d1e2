package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// An exchange is one request of a program, and its answer.
type exchange struct {
	s      *Session
	to     *target
	start  time.Time
	event  egress.Event
	header http.Header // the credential
	mask   *masker     // nil without one
	inside bool        // of a program in the host process, whose bytes no conn counts
	sent   atomic.Int64
	got    atomic.Int64
}

type exchangeKey struct{} // of an *exchange

// exchange judges a request, and gets its credential.
func (s *Session) exchange(r *http.Request, t *target) (*exchange, error) {
	x := &exchange{s: s, to: t, start: time.Now()}
	x.event = egress.Event{Protocol: x.scheme(), Host: t.host, Port: t.port, Method: r.Method, Path: r.URL.Path, Allowed: true}
	if err := s.allowed(t); err != nil {
		return x, err
	}
	if r.URL.Opaque != "" || r.Method == http.MethodConnect {
		return x, errors.New("its target names another host") // to a server that reads it as a proxy does
	}
	rule, err := t.rules.ForRequest(r.Method, r.URL.Path, r.URL.EscapedPath())
	if err != nil || rule == nil || !rule.Credential {
		return x, err
	}
	if !t.tls && !rule.Insecure {
		return x, errors.New("its credential is sent over https only")
	}
	c, err := call(func() (egress.Credential, error) {
		return s.gate.opts.Secrets.For(r.Context(), t.host, r.Method, r.URL.Path)
	})
	if err != nil || len(c.Header) == 0 {
		return x, errors.New("its credential is not available")
	}
	x.header, x.event.Credential, x.mask = c.Header, c.Name, newMasker(c)
	return x, nil
}

// begin waits until the session has fewer requests in progress than it may. Unless it
// fails, end has to follow.
func (x *exchange) begin(ctx context.Context) error {
	select {
	case x.s.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-x.s.ctx.Done():
		return errClosed
	}
	err := x.s.allowed(x.to)
	if err != nil {
		<-x.s.slots
	}
	return err
}

func (x *exchange) scheme() string {
	if x.to.tls {
		return "https"
	}
	return "http"
}

// authority is the target as in a URL.
func (x *exchange) authority() string {
	host := x.to.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if !x.to.tls && x.to.port == 80 || x.to.tls && x.to.port == 443 {
		return host
	}
	return host + ":" + strconv.Itoa(x.to.port)
}

// prepare makes the request that goes out from the program's.
func (x *exchange) prepare(out *http.Request) {
	out.URL.Scheme, out.URL.Host, out.URL.User, out.Host = x.scheme(), x.authority(), nil, x.authority()
	if !strings.EqualFold(out.Header.Get("Upgrade"), "websocket") {
		// Another protocol, such as h2c, would carry requests that are not seen.
		out.Header.Del("Upgrade")
		out.Header.Del("Connection")
	}
	if out.Body != nil {
		out.Body = x.count(out.Body, &x.sent)
	}
	if x.mask == nil {
		return
	}
	for name, values := range x.header {
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
	// The answer is searched: it has to come as it is, and whole.
	out.Header.Set("Accept-Encoding", "identity")
	out.Header.Del("Range")
	out.Header.Del("Sec-Websocket-Extensions")
}

// answer takes the credential out of an answer, and counts its body.
func (x *exchange) answer(resp *http.Response) error {
	x.event.Status = resp.StatusCode
	if x.mask != nil {
		if e := strings.Join(resp.Header.Values("Content-Encoding"), ","); e != "" && !strings.EqualFold(e, "identity") {
			return &egress.Refusal{Host: x.to.host, Reason: "has answered in an encoding in which its credential cannot be looked for"}
		}
		x.mask.response(resp)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = x.count(resp.Body, &x.got)
	}
	return nil
}

// end reports the exchange; err is why it failed.
func (x *exchange) end(err error) {
	<-x.s.slots
	x.event.Sent, x.event.Received = x.sent.Load(), x.got.Load()
	var no *egress.Refusal
	if errors.As(err, &no) {
		x.refuse(no)
		return
	}
	if err != nil {
		x.event.Reason = plain(err)
	}
	x.s.event(x.event, x.start)
}

// refuse reports the exchange as refused, unless the program has ended it.
func (x *exchange) refuse(err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errClosed) {
		x.event.Reason = err.Error()
		x.s.event(x.event, x.start)
		return
	}
	x.s.refuse(x.event, err, x.start)
}

func (x *exchange) count(body io.ReadCloser, n *atomic.Int64) io.ReadCloser {
	b := &countedBody{ReadCloser: body, n: n}
	if x.inside {
		b.s = x.s
	}
	return b
}

type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
	s *Session // whose limit the bytes count for, if not nil
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	if b.s != nil && !b.s.spend(n) {
		err = errSpent
	}
	return n, err
}

// forward answers a request by the one that it makes of it.
func (g *Gate) forward(w http.ResponseWriter, r *http.Request, c *conn, t *target) {
	x, err := c.s.exchange(r, t)
	if err == nil {
		err = x.begin(r.Context())
	}
	if err != nil {
		x.refuse(err)
		deny(w, err)
		return
	}
	var failed error
	ended := false
	proxy := httputil.ReverseProxy{
		Transport: g.upstream, ErrorLog: g.front.ErrorLog, FlushInterval: -1,
		Rewrite:        func(p *httputil.ProxyRequest) { x.prepare(p.Out) },
		ModifyResponse: x.answer,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			err = x.mask.error(err)
			failed = err
			var no *egress.Refusal
			if errors.As(err, &no) { // the run, which may end with this answer, is to know
				ended = true
				x.end(no)
				deny(w, no)
				return
			}
			fail(w, http.StatusBadGateway, x.to.host+" cannot be reached: "+plain(err))
		},
	}
	// ReverseProxy panics to abort an answer whose body has failed.
	defer func() {
		p := recover()
		if p != nil && failed == nil {
			failed = errors.New("the answer was cut off")
		}
		if !ended {
			x.end(failed)
		}
		if p != nil {
			panic(p)
		}
	}()
	proxy.ServeHTTP(finalWriter{w}, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// A finalWriter drops informational answers (RFC 9110, section 15.2), which are not
// searched for credentials.
type finalWriter struct{ http.ResponseWriter }

func (w finalWriter) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w finalWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// RoundTrip makes one request for a program within the host process, as
// [http.RoundTripper] says; it follows no redirects. The request's URL must be absolute.
func (s *Session) RoundTrip(r *http.Request) (*http.Response, error) {
	t, err := s.requestTarget(r)
	if err != nil {
		s.refused(egress.Event{Protocol: r.URL.Scheme, Host: r.URL.Host, Method: r.Method, Path: r.URL.Path}, err)
		return nil, err
	}
	x, err := s.exchange(r, t)
	if err == nil {
		err = x.begin(r.Context())
	}
	if err != nil {
		x.refuse(err)
		return nil, err
	}
	x.inside = true
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), exchangeKey{}, x))
	stop := context.AfterFunc(s.ctx, func() { cancel(net.ErrClosed) })
	out := r.Clone(ctx)
	x.prepare(out)
	resp, err := s.gate.upstream.RoundTrip(out)
	if err == nil {
		if err = x.answer(resp); err != nil {
			_ = resp.Body.Close()
		}
	}
	if err != nil {
		stop()
		cancel(nil)
		err = x.mask.error(err)
		x.end(err)
		return nil, err
	}
	resp.Request = r // not the one with the credential
	resp.Body = &lastBody{ReadCloser: resp.Body, end: func() {
		stop()
		cancel(nil)
		x.end(nil)
	}}
	return resp, nil
}

func (s *Session) requestTarget(r *http.Request) (*target, error) {
	if r.URL.Scheme != "http" && r.URL.Scheme != "https" {
		return nil, fmt.Errorf("the scheme %q is not http or https", r.URL.Scheme)
	}
	port := 80
	if r.URL.Scheme == "https" {
		port = 443
	}
	host, port, err := splitHost(r.URL.Host, port)
	if err != nil {
		return nil, err
	}
	t, err := s.target(r.Context(), host, port)
	if err != nil {
		return nil, err
	}
	t.tls = r.URL.Scheme == "https"
	return t, nil
}

// A lastBody calls end once, when it is closed.
type lastBody struct {
	io.ReadCloser
	closed atomic.Bool
	end    func()
}

func (b *lastBody) Close() error {
	err := b.ReadCloser.Close()
	if !b.closed.Swap(true) {
		b.end()
	}
	return err
}
