package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// DefaultMaxBody is the largest HTTP request in bytes: room for the
	// largest program that is accepted.
	DefaultMaxBody = 10 << 20

	// DefaultMaxSessions is how many sessions there are at a time.
	DefaultMaxSessions = 256

	// DefaultSessionIdle is after how long without a request a session ends.
	DefaultSessionIdle = time.Hour

	// ioTimeout is how long a client may take to send a request, or to take
	// a piece of an answer.
	ioTimeout = 30 * time.Second

	// Path is where [Server.Serve] serves.
	Path = "/mcp"

	// sessionless is the first revision of the protocol without sessions.
	sessionless = "2026-07-28"

	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerCarrier = "Toolcell-Carrier"
)

// HTTPOptions tunes the HTTP transport. The zero value serves whoever reaches
// the loopback interface of this machine.
type HTTPOptions struct {
	// Tokens are the bearer tokens that are let in. Each is a client of its
	// own: contexts made with one are not found with another. None means
	// that no token is asked for.
	Tokens []string

	// Verify decides on bearer tokens instead of Tokens, for OAuth. Clients
	// are told apart by TokenInfo.UserID.
	Verify auth.TokenVerifier

	// Bearer goes with Verify: scopes, and where to get a token. May be nil.
	Bearer *auth.RequireBearerTokenOptions

	// Hosts are the names, without a port, under which the server may be
	// reached besides loopback names and the address of the connection
	// itself. They are what keeps a web page from reaching it by rebinding
	// its own name.
	Hosts []string

	// Origins are the web origins, such as "https://app.example", whose
	// pages may use the server from a browser. Those of the server itself
	// always may. Requests of programs have no origin.
	Origins []string

	// MaxBody is the largest request in bytes. Zero means DefaultMaxBody.
	MaxBody int64

	// MaxSessions is how many sessions there may be at a time over this
	// transport; further clients are answered 503. Each of several Tokens
	// has an equal share of them, a user of Verify half at most. Zero means
	// DefaultMaxSessions.
	MaxSessions int

	// SessionIdle is after how long without a request a session ends, and
	// its contexts with it. Zero means DefaultSessionIdle.
	SessionIdle time.Duration
}

// ErrInsecure is returned where code could be run by anybody on the network.
var ErrInsecure = errors.New("refusing to serve beyond loopback without a bearer token")

// Handler returns a handler for one endpoint that speaks all revisions of the
// streamable HTTP transport: those with sessions, and 2026-07-28 without. A
// client that drops the request of a call ends the call. opts may be nil.
//
// Where no token is asked for, it serves only what comes in by the loopback
// interface or by no network at all.
func (s *Server) Handler(opts *HTTPOptions) http.Handler {
	if opts == nil {
		opts = &HTTPOptions{}
	}
	o := *opts
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxSessions = max(cmp.Or(o.MaxSessions, DefaultMaxSessions), 0)
	o.SessionIdle = cmp.Or(o.SessionIdle, DefaultSessionIdle)
	o.Tokens = slices.Compact(slices.Sorted(slices.Values(o.Tokens))) // one that is given twice has one share
	server := func(*http.Request) *mcp.Server { return s.mcp }
	t := &transport{
		Server:      s,
		HTTPOptions: o,
		places:      newPlaces(&o),
		requests:    newRequests(&o),
		answers:     newAnswers(&o),
		sessions: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			// guard looks at the host instead, and knows those that are allowed.
			SessionTimeout: o.SessionIdle, MaxRequestBodyBytes: o.MaxBody, DisableLocalhostProtection: true,
		}),
		sessionless: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: o.MaxBody, DisableLocalhostProtection: true,
		}),
	}
	return o.guard(t)
}

// A transport routes requests to the handler for their revision.
type transport struct {
	*Server
	HTTPOptions
	places, requests, answers *places
	sessions, sessionless     http.Handler
}

func (t *transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if t.ctx.Err() != nil {
		http.Error(w, errServerClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	rc := http.NewResponseController(w)
	c := &carrier{ctx: r.Context(), owner: ownerOf(r), users: 1, answers: t.answers}
	free, ok := t.request(r, c.owner)
	if !ok {
		busy(w, errRequests, 1)
		return
	}
	c.free = free
	defer t.unuse(c)
	// Before it is routed: the body may be all that tells the revision.
	body, ok := t.read(w, rc, r, c)
	if !ok {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.sessionless = isSessionless(r, body)
	c.party = t.partyOf(c.owner)
	next := t.sessions
	switch session := r.Header.Get(headerSession); {
	case c.sessionless:
		next = t.sessionless
	case opensSession(r):
		leave, ok := t.places.take(c.owner, 1)
		if !ok {
			busy(w, errors.New("too many sessions"), 60)
			return
		}
		c.leave = leave
	case r.Method == http.MethodDelete && session != "":
		t.endSession(session, c.owner)
	}
	id := rand.Text()
	r.Header.Set(headerCarrier, id)
	defer t.carry(id, c)()
	dw := &deadlineWriter{ResponseWriter: w, rc: rc}
	next.ServeHTTP(dw, r)
	if dw.refused && c.notes > 0 {
		t.bring(t.named(r.Header.Get(headerSession), c.owner), -c.notes) // which do not wait
	}
	// For what is still in buffers, which the HTTP server writes after this.
	rc.SetWriteDeadline(time.Now().Add(ioTimeout))
}

// read reads a request, as far as somebody heeds what it says. It has answered those
// that it does not return.
func (t *transport) read(w http.ResponseWriter, rc *http.ResponseController, r *http.Request, c *carrier) (body []byte, ok bool) {
	body, status, err := readBody(w, rc, r, t.MaxBody)
	if err != nil {
		http.Error(w, err.Error(), status)
		return nil, false
	}
	if err := weigh(bytes.TrimSpace(body)); err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if refused(w, body) {
		return nil, false
	}
	msgs := contentOf(body)
	if !t.batch(c, msgs.calls) {
		busy(w, errRequests, 1)
		return nil, false
	}
	known := t.named(r.Header.Get(headerSession), c.owner)
	switch {
	case msgs.body == nil && known == nil:
		return body, true // of no session, which is told where that is looked for
	case msgs.body == nil:
		w.WriteHeader(http.StatusAccepted)
		return nil, false
	case !t.bring(known, msgs.notes):
		busy(w, errNotes, 1)
		return nil, false
	}
	c.notes = msgs.notes
	return msgs.body, true
}

// busy refuses what may be tried again after some seconds.
func busy(w http.ResponseWriter, err error, after int) {
	w.Header().Set("Retry-After", strconv.Itoa(after))
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// isSessionless reports whether a request is of a revision without sessions:
// by its header, or, where that is missing, by what such requests contain.
func isSessionless(r *http.Request, body []byte) bool {
	if v := r.Header.Get(headerVersion); v != "" {
		return v >= sessionless // dates sort as texts
	}
	return r.Header.Get(headerSession) == "" && bytes.Contains(body, []byte(`"`+mcp.MetaKeyProtocolVersion+`"`))
}

// ownerOf returns the owner of a request's sessionless calls.
func ownerOf(r *http.Request) owner {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return owner(info.UserID)
	}
	return ""
}

// readBody reads the whole request, and returns the HTTP status of what is
// wrong with it. The deadline that guard has set stays until all is read, as
// the HTTP server itself reads what is left of a request that was refused.
func readBody(w http.ResponseWriter, rc *http.ResponseController, r *http.Request, limit int64) ([]byte, int, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes", tooLarge.Limit)
	}
	if errors.Is(err, errRequests) {
		w.Header().Set("Retry-After", "1")
		return nil, http.StatusServiceUnavailable, errRequests
	}
	if err != nil {
		return nil, http.StatusBadRequest, errors.New("the request could not be read")
	}
	rc.SetReadDeadline(time.Time{})
	return body, 0, nil
}

// A deadlineWriter gives every piece of an answer its own time to be taken, so
// that a client that stops reading is noticed.
type deadlineWriter struct {
	http.ResponseWriter
	rc      *http.ResponseController
	refused bool // the answer is none but why
}

func (w *deadlineWriter) WriteHeader(status int) {
	w.refused = status >= http.StatusBadRequest
	w.ResponseWriter.WriteHeader(status)
}

func (w *deadlineWriter) Write(p []byte) (int, error) {
	w.rc.SetWriteDeadline(time.Now().Add(ioTimeout))
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ListenAndServe is [Server.Serve] on a TCP address. Without a host it is that
// of the loopback interface.
func (s *Server) ListenAndServe(ctx context.Context, addr string, opts *HTTPOptions) error {
	ln, err := Listen(ctx, addr)
	if err != nil {
		return err
	}
	return s.Serve(ctx, ln, opts)
}

// Listen listens on a TCP address, without a host on the loopback interface.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		hint := ""
		if addr != "" && strings.Trim(addr, "0123456789") == "" {
			hint = "; a port alone is written :" + addr
		}
		return nil, fmt.Errorf("mcpserver: %w%s", err, hint)
	}
	if host == "" {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	return ln, nil
}

// Serve serves HTTP at [Path] until ctx ends, and returns nil then, or until
// it fails. It closes ln, and the server. An address that can be reached from
// elsewhere without a token is [ErrInsecure].
func (s *Server) Serve(ctx context.Context, ln net.Listener, opts *HTTPOptions) error {
	defer s.Close()
	defer ln.Close()
	if a, ok := ln.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && (opts == nil || !opts.asksForTokens()) {
		return fmt.Errorf("mcpserver: %w: %v", ErrInsecure, ln.Addr())
	}
	mux := http.NewServeMux()
	mux.Handle(Path, s.Handler(opts))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: ioTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	var unused sync.Map // connections that have brought nothing yet, which Shutdown would wait for
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		if unused.Delete(c); state == http.StateNew {
			unused.Store(c, nil)
		}
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("mcpserver: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	shutdown := make(chan struct{})
	// Begun before Close, so that nothing new comes in, and beside it, since it
	// waits for the calls that Close ends; Close waits for answers that clients
	// take, which it cuts off.
	go func() {
		if srv.Shutdown(last) != nil {
			srv.Close()
		}
		close(shutdown)
	}()
	s.Close()
	for c := range unused.Range {
		c.(net.Conn).Close()
	}
	<-shutdown
	<-failed
	return nil
}
