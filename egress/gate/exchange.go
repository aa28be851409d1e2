package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/egress"
)

// An exchange is one request of a program, and its answer.
type exchange struct {
	s         *Session
	event     egress.Event
	mask      *masker  // nil without a credential
	inside    bool     // of a program in the host process, whose bytes no conn counts
	releases  []func() // at its end
	sent, got atomic.Int64
}

// RoundTrip makes one request of a program, as [http.RoundTripper] says; it follows no
// redirects. The request's URL must be absolute. What the policy does not allow is an
// error that wraps an [*egress.Refusal].
func (s *Session) RoundTrip(r *http.Request) (*http.Response, error) {
	x := &exchange{s: s, inside: r.Context().Value(connKey{}) == nil}
	x.event = egress.Event{Protocol: r.URL.Scheme, Host: r.URL.Host, Method: r.Method, Path: r.URL.Path, Start: time.Now()}
	resp, err := x.make(r)
	if err != nil {
		err = x.mask.error(err)
		x.end(err)
		return nil, err
	}
	return resp, nil
}

func (x *exchange) make(r *http.Request) (*http.Response, error) {
	t, err := x.target(r)
	if err != nil {
		return nil, err
	}
	x.event.Host, x.event.Port = t.host, t.port
	credential, err := x.judge(r, t)
	if err != nil {
		return nil, err
	}
	if err := x.begin(r.Context(), t); err != nil {
		return nil, err
	}
	// Not r's: its trace would see informational answers, which are not searched for
	// credentials.
	ctx, cancel := context.WithCancel(context.WithValue(x.s.ctx, targetKey{}, t))
	stop := context.AfterFunc(r.Context(), cancel)
	x.releases = append(x.releases, func() { stop(); cancel() })
	out := r.Clone(ctx)
	upgrade := x.prepare(out, t, credential)
	resp, err := x.s.gate.upstream.RoundTrip(out)
	if err != nil {
		return nil, cmp.Or(r.Context().Err(), err)
	}
	resp.Request = r // not the one with the credential
	if err := x.answer(resp, t, upgrade); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

func refusal(format string, args ...any) error {
	return &egress.Refusal{Reason: fmt.Sprintf(format, args...)}
}

// target settles where a request goes: to where its connection leads, if that says it.
func (x *exchange) target(r *http.Request) (*target, error) {
	c, _ := r.Context().Value(connKey{}).(*conn)
	port := map[string]int{"http": 80, "https": 443}[r.URL.Scheme]
	switch {
	case port == 0:
		return nil, refusal("the scheme %q is not http or https", r.URL.Scheme)
	case c != nil && r.TLS == nil && port != 80:
		return nil, refusal("a proxy request is for http:// or CONNECT")
	}
	host, port, err := splitHost(r.URL.Host, port)
	if err == nil {
		host, err = egress.CanonicalHost(host)
	}
	if err != nil {
		return nil, refusal("%v", err)
	}
	if c != nil && c.target.Load() != nil {
		to := c.target.Load()
		if r.TLS == nil {
			port = to.port
		}
		if host != to.host || port != to.port {
			return nil, &egress.Refusal{Host: host, Port: to.port, Reason: "is not the host connected to, " + to.host}
		}
	}
	t, err := x.s.target(r.Context(), host, port)
	if err != nil {
		return nil, err
	}
	if t.tls = r.URL.Scheme == "https"; c != nil && !t.tls {
		c.serving.Store(t)
		x.releases = append(x.releases, func() { c.serving.Store(nil) })
	}
	return t, nil
}

// judge returns the credential that a request gets, if it is allowed.
func (x *exchange) judge(r *http.Request, t *target) (http.Header, error) {
	if r.URL.Opaque != "" || r.Method == http.MethodConnect {
		return nil, refusal("its target names another host") // to a server that reads it as a proxy does
	}
	rule, err := t.rules.ForRequest(r.Method, r.URL.Path, r.URL.EscapedPath())
	if err != nil || rule == nil || !rule.Credential {
		return nil, err
	}
	if !t.tls && !rule.Insecure {
		return nil, refusal("its credential is sent over https only")
	}
	c, err := call(func() (egress.Credential, error) {
		return x.s.gate.opts.Secrets.For(r.Context(), t.host, r.Method, r.URL.Path)
	})
	if err != nil || len(c.Header) == 0 {
		return nil, refusal("its credential is not available")
	}
	if x.mask = newMasker(c); x.mask == nil {
		return nil, refusal("its credential is too short to be looked for in answers")
	}
	x.event.Credential = c.Name
	return c.Header, nil
}

// begin waits until the session has fewer requests in progress than it may.
func (x *exchange) begin(ctx context.Context, t *target) error {
	select {
	case x.s.slots <- struct{}{}:
		x.releases = append(x.releases, func() { <-x.s.slots })
	case <-ctx.Done():
		return ctx.Err()
	case <-x.s.ctx.Done():
		return errClosed
	}
	return x.s.allowed(t)
}

// prepare makes the request that goes out from a copy of the program's. It reports whether
// that asks for a websocket. Another protocol, such as h2c, would carry requests that are
// not seen.
func (x *exchange) prepare(out *http.Request, t *target, credential http.Header) (upgrade bool) {
	out.URL.Host, out.URL.User, out.Host = t.authority(), nil, t.authority()
	if upgrade = strings.EqualFold(out.Header.Get("Upgrade"), "websocket"); !upgrade {
		out.Header.Del("Upgrade")
		out.Header.Del("Connection")
	}
	if out.Body != nil {
		out.Body = &sentBody{out.Body, x}
	}
	if x.mask == nil {
		return upgrade
	}
	for name, values := range credential {
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
	// The answer is searched: it has to come as it is, and whole.
	out.Header.Set("Accept-Encoding", "identity")
	out.Header.Del("Range")
	out.Header.Del("Sec-Websocket-Extensions")
	return upgrade
}

// answer takes the credential out of an answer, whose body's end becomes that of the
// exchange.
func (x *exchange) answer(resp *http.Response, t *target, upgrade bool) error {
	x.event.Status = resp.StatusCode
	switched := resp.StatusCode == http.StatusSwitchingProtocols
	if switched && !upgrade {
		return &egress.Refusal{Host: t.host, Reason: "has changed to a protocol that was not asked for"}
	}
	b := &gotBody{x: x}
	b.w, _ = resp.Body.(io.Writer)
	b.whole.Store(switched)
	if x.mask != nil {
		if e := strings.Join(resp.Header.Values("Content-Encoding"), ","); e != "" && !strings.EqualFold(e, "identity") {
			return &egress.Refusal{Host: t.host, Reason: "has answered in an encoding in which its credential cannot be looked for"}
		}
		x.mask.response(resp)
	}
	b.ReadCloser = resp.Body
	resp.Body = b
	return nil
}

// end reports the exchange; err is why it failed.
func (x *exchange) end(err error) {
	for _, release := range x.releases {
		release()
	}
	x.event.Sent, x.event.Received = x.sent.Load(), x.got.Load()
	x.s.report(x.event, err)
}

// count adds to what was sent or received.
func (x *exchange) count(total *atomic.Int64, n int, err error) (int, error) {
	total.Add(int64(n))
	if x.inside && !x.s.spend(n) {
		err = errSpent
	}
	return n, err
}

type sentBody struct {
	io.ReadCloser
	x *exchange
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	return b.x.count(&b.x.sent, n, err)
}

// A gotBody is the body of an answer, which ends the exchange when it is closed.
type gotBody struct {
	io.ReadCloser
	w     io.Writer // of a connection that has changed its protocol
	x     *exchange
	whole atomic.Bool
	once  sync.Once
}

func (b *gotBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.whole.Store(true)
	}
	return b.x.count(&b.x.got, n, err)
}

func (b *gotBody) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	return b.x.count(&b.x.sent, n, err)
}

func (b *gotBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() {
		var why error
		if !b.whole.Load() {
			why = errors.New("the answer was cut off")
		}
		b.x.end(why)
	})
	return err
}
