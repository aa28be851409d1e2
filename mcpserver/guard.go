package mcpserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// guard passes on requests for a host of the server, from an allowed origin, with a token
// if the server has tokens.
func (o *HTTPOptions) guard(next http.Handler) http.Handler {
	inner, origins := o.authenticated(next), o.crossOrigin()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(ioTimeout))
		// The server sets it: with it a client could name the request of another.
		r.Header.Del(headerRequest)
		// For each request: a Handler may be served on any listener.
		if local, ok := localAddr(r); ok && !local.IsLoopback() && !o.asksForTokens() {
			http.Error(w, ErrInsecure.Error(), http.StatusForbidden)
			return
		}
		if !o.hostAllowed(r) {
			http.Error(w, fmt.Sprintf("host %q is not allowed", short(r.Host, 200)), http.StatusForbidden)
			return
		}
		if err := origins.Check(r); err != nil {
			http.Error(w, short(err.Error(), 200), http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); slices.Contains(o.Origins, origin) {
			allowBrowser(w.Header(), origin)
			// Before the token, which browsers do not send with a preflight (Fetch).
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		inner.ServeHTTP(w, r)
	})
}

// hostAllowed reports whether the request names this host: a name in Hosts, a loopback
// name, or the local address. It refuses names that an attacker's DNS points here.
func (o *HTTPOptions) hostAllowed(r *http.Request) bool {
	host := hostname(r.Host)
	if host == "localhost" || slices.ContainsFunc(o.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	local, ok := localAddr(r)
	return ok && local == ip.Unmap()
}

// localAddr returns the address that the request came in by, if it came by TCP.
func localAddr(r *http.Request) (netip.Addr, bool) {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}, false
	}
	return a.AddrPort().Addr().Unmap().WithZone(""), true
}

func (o *HTTPOptions) asksForTokens() bool { return o.Verify != nil || len(o.Tokens) > 0 }

// hostname returns the host of "host:port" in lower case.
func hostname(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	// A name with the root's dot at its end is the same name.
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// crossOrigin returns what refuses requests of web pages of other origins.
func (o *HTTPOptions) crossOrigin() *http.CrossOriginProtection {
	c := http.NewCrossOriginProtection()
	for _, origin := range o.Origins {
		_ = c.AddTrustedOrigin(origin) // check has tried
	}
	return c
}

// allowBrowser sets the headers by which browsers let a page of an allowed origin send and
// read (CORS).
func allowBrowser(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, "+headerSession+", "+headerVersion+", Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Expose-Headers", headerSession+", "+headerVersion+", WWW-Authenticate")
	h.Set("Access-Control-Max-Age", "600")
}

// authenticated checks the token if the server has tokens.
func (o *HTTPOptions) authenticated(next http.Handler) http.Handler {
	verify, opts := o.Verify, o.Bearer
	if verify == nil {
		if len(o.Tokens) == 0 {
			return next
		}
		verify, opts = verifyTokens(o.Tokens), &auth.RequireBearerTokenOptions{AllowMissingExpiration: true}
	}
	const challenge = "WWW-Authenticate"
	guarded := auth.RequireBearerToken(verify, opts)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Del(challenge)
		next.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if opts == nil || opts.ResourceMetadataURL == "" && len(opts.Scopes) == 0 {
			// A 401 must have a challenge (RFC 9110, 15.5.2); the SDK sends one
			// only with these options.
			w.Header().Set(challenge, "Bearer")
		}
		guarded.ServeHTTP(w, r)
	})
}

// verifyTokens compares with each of the tokens in constant time. The user is the token's
// hash.
func verifyTokens(tokens []string) auth.TokenVerifier {
	sums := make([][sha256.Size]byte, len(tokens))
	for i, t := range tokens {
		sums[i] = sha256.Sum256([]byte(t))
	}
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		got := sha256.Sum256([]byte(token))
		found := 0
		for i := range sums {
			found |= subtle.ConstantTimeCompare(got[:], sums[i][:])
		}
		if found == 0 {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: hex.EncodeToString(got[:16])}, nil
	}
}
