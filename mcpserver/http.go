package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
)

const (
	// maxBody is the largest HTTP request in bytes: it has room for the largest program
	// that is accepted.
	maxBody = 10 << 20

	// maxSessions is how many sessions there are at a time; further clients are answered
	// 503.
	maxSessions = 256

	// ioTimeout is how long a client may take to send a request, or to read a piece of
	// an answer.
	ioTimeout = 30 * time.Second

	// flush is for the answers of the last calls to be written and read.
	flush = 100 * time.Millisecond

	// Path is where [Server.Serve] serves MCP.
	Path = "/mcp"

	// sessionless is the first revision of the protocol without sessions.
	sessionless = "2026-07-28"

	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerRequest = "Toolcell-Request"
)

// HTTPOptions configures the HTTP transport. The zero value serves every user of this
// machine over the loopback interface.
type HTTPOptions struct {
	// Tokens are the accepted bearer tokens, of letters, digits and -._~+/ with = at
	// the end. Each is a separate client. Without Tokens and Verify requests need no
	// token.
	Tokens []string

	// Verify decides on bearer tokens instead of Tokens, for OAuth. Clients are
	// distinguished by TokenInfo.UserID.
	Verify auth.TokenVerifier

	// Bearer goes with Verify: scopes, and where to get a token. May be nil.
	Bearer *auth.RequireBearerTokenOptions

	// Hosts are the names, without a port, under which the server is reached besides
	// loopback names and the address of the connection. They keep a web page from
	// reaching it by rebinding its own name.
	Hosts []string

	// Origins are the web origins, such as "https://app.example", whose pages may use
	// the server from a browser besides its own. Requests of programs have no origin.
	Origins []string

	// SessionIdle is how long a session, and its contexts, live without a request. Zero
	// means an hour.
	SessionIdle time.Duration

	// Drain is how long Serve lets calls in progress finish when its ctx has ended, while
	// new ones are refused. Zero ends them at once.
	Drain time.Duration
}

// ErrInsecure is returned for an address beyond loopback without a token.
var ErrInsecure = errors.New("refusing to serve beyond loopback without a bearer token")

var tokenForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`) })

func (o *HTTPOptions) check() error {
	for i, t := range o.Tokens {
		if !tokenForm().MatchString(t) {
			return fmt.Errorf("mcpserver: %w: token %d is not a valid bearer token; it may contain a space", codeinterp.ErrInvalid, i+1)
		}
	}
	for _, origin := range o.Origins {
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); err != nil {
			return fmt.Errorf("mcpserver: %w: %w", codeinterp.ErrInvalid, err)
		}
	}
	return nil
}

// Handler returns a handler for one endpoint that speaks all revisions of the streamable
// HTTP transport. A client that drops the request of a call ends the call. Without tokens
// it serves only requests that arrive over loopback. opts may be nil.
func (s *Server) Handler(opts *HTTPOptions) (http.Handler, error) {
	o := HTTPOptions{}
	if opts != nil {
		o = *opts
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	o.SessionIdle = cmp.Or(o.SessionIdle, time.Hour)
	server := func(*http.Request) *mcp.Server { return s.mcp }
	t := &transport{
		Server: s, HTTPOptions: o,
		sessions: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			// guard checks the host instead, and knows those that are allowed.
			SessionTimeout: o.SessionIdle, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true,
		}),
		sessionless: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true,
		}),
	}
	return s.logged(o.guard(t)), nil
}

// A transport routes requests to the SDK's handler for their revision.
type transport struct {
	*Server
	HTTPOptions
	sessions, sessionless http.Handler
}

// ServeHTTP implements http.Handler.
func (t *transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if t.ctx.Err() != nil {
		http.Error(w, errServerClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	rc := http.NewResponseController(w)
	// Read first: the revision may be in the body only.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, huge := errors.AsType[*http.MaxBytesError](err); huge {
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes", maxBody), http.StatusRequestEntityTooLarge)
		return
	} else if err != nil {
		http.Error(w, "the request could not be read", http.StatusBadRequest)
		return
	}
	rc.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	from := &request{ctx: r.Context(), owner: ownerOf(r), sessionless: isSessionless(r, body)}
	next := t.sessions
	switch session := r.Header.Get(headerSession); {
	case from.sessionless:
		next = t.sessionless
	case r.Method == http.MethodPost && session == "" && t.httpSessions() >= maxSessions:
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return
	case r.Method == http.MethodDelete && session != "":
		t.endSession(session, from.owner)
	}
	id, done := t.requests.add(from)
	defer done()
	r.Header.Set(headerRequest, id)
	next.ServeHTTP(w, r)
}

// isSessionless reports whether a request has a revision without sessions, by its header
// or by its body.
func isSessionless(r *http.Request, body []byte) bool {
	if v := r.Header.Get(headerVersion); v != "" {
		return v >= sessionless // dates sort as text
	}
	return r.Header.Get(headerSession) == "" && bytes.Contains(body, []byte(`"`+mcp.MetaKeyProtocolVersion+`"`))
}

// ownerOf returns the owner of a request's calls without a session.
func ownerOf(r *http.Request) owner {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return owner(info.UserID)
	}
	return anyone
}

// ListenAndServe is [Server.Serve] on a TCP address, see [Listen].
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

// Serve serves HTTP until ctx ends, and returns nil then, or until it fails: MCP at [Path],
// metrics in the Prometheus format at /metrics with the same checks, and without a token
// /healthz and /readyz, which is 503 once ctx has ended. It closes ln and the server. An
// address that can be reached from elsewhere without a token is [ErrInsecure].
func (s *Server) Serve(ctx context.Context, ln net.Listener, opts *HTTPOptions) error {
	defer s.Close()
	defer ln.Close()
	o := HTTPOptions{}
	if opts != nil {
		o = *opts
	}
	if a, ok := ln.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && !o.asksForTokens() {
		return fmt.Errorf("mcpserver: %w: %v", ErrInsecure, ln.Addr())
	}
	handler, err := s.Handler(&o)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: s.mux(ctx, handler, &o), ReadHeaderTimeout: ioTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("mcpserver: %w", err)
	case <-ctx.Done():
	}
	s.shutdown(context.WithoutCancel(ctx), srv, o.Drain)
	<-failed
	return nil
}

// mux serves the handler, health and metrics until ctx ends.
func (s *Server) mux(ctx context.Context, handler http.Handler, o *HTTPOptions) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(Path, handler)
	mux.Handle(Path+"/{$}", handler)
	mux.Handle("/metrics", s.logged(o.guard(http.HandlerFunc(s.serveMetrics))))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, errServerClosed.Error(), http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ok\n")
	})
	return mux
}

// shutdown drains and ends the server.
func (s *Server) shutdown(ctx context.Context, srv *http.Server, wait time.Duration) {
	drain, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	s.Drain(drain)
	if wait > 0 {
		time.Sleep(flush)
	}
	last, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	stop := context.AfterFunc(last, func() { srv.Close() }) // Close waits for answers that a client does not read
	s.Close()
	stop()
	srv.Close()
}

// logged counts and logs requests that are refused, such as those without a token.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		aw := &answerWriter{ResponseWriter: w, rc: http.NewResponseController(w)}
		next.ServeHTTP(aw, r)
		// For data in buffers, which the HTTP server writes later.
		aw.rc.SetWriteDeadline(time.Now().Add(ioTimeout))
		if aw.status < http.StatusBadRequest {
			return
		}
		s.metrics.refuse(strconv.Itoa(aw.status))
		s.opts.Logger.LogAttrs(r.Context(), slog.LevelWarn, "request refused", slog.Int("status", aw.status),
			slog.String("method", r.Method), slog.String("remote", r.RemoteAddr), slog.String("host", short(r.Host, 100)))
	})
}

// An answerWriter records the status of an answer, and sets a deadline for the client to
// read each piece of it.
type answerWriter struct {
	http.ResponseWriter
	rc     *http.ResponseController
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *answerWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *answerWriter) Write(p []byte) (int, error) {
	w.rc.SetWriteDeadline(time.Now().Add(ioTimeout))
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
