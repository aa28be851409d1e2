package gate

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/toolcell/toolcell/egress"
)

var errOtherHost = errors.New("the Host header is not the host connected to")

// serve handles requests of programs: those in the clear, to a proxy or without one, and
// those within TLS that ends here.
func (g *Gate) serve(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn)
	if r.TLS == nil && r.Method == http.MethodConnect {
		g.connect(c, w, r)
		return
	}
	t, err := c.requested(r)
	if err != nil {
		c.s.refuse(egress.Event{Protocol: t.scheme(), Host: r.Host, Port: t.port, Method: r.Method, Path: r.URL.Path}, err)
		deny(w, err)
		return
	}
	if !t.tls {
		c.serving.Store(t)
		defer c.serving.Store(nil)
	}
	proxy := httputil.ReverseProxy{
		Transport: c.s, ErrorLog: g.server.ErrorLog, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = t.scheme(), t.authority() },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if no, ok := errors.AsType[*egress.Refusal](err); ok {
				deny(w, no)
				return
			}
			fail(w, http.StatusBadGateway, t.host+" cannot be reached: "+plain(err))
		},
	}
	proxy.ServeHTTP(w, r)
}

// requested returns the host and the port that a request names, which must be those of
// the connection where that has some.
func (c *conn) requested(r *http.Request) (*target, error) {
	t := &target{host: r.Host, port: 80, tls: r.TLS != nil}
	if t.tls {
		t.port = 443
	} else if r.URL.IsAbs() {
		if t.host = r.URL.Host; r.URL.Scheme != "http" {
			return t, errors.New("a proxy request is for http:// or CONNECT")
		}
	}
	host, port, err := splitHost(t.host, t.port)
	if err == nil {
		host, err = egress.CanonicalHost(host)
	}
	to := c.target.Load()
	switch {
	case t.tls && (err != nil || host != to.host || port != to.port || r.Method == http.MethodConnect):
		return t, errOtherHost
	case err != nil:
		return t, err
	case to != nil && host != to.host:
		return t, &egress.Refusal{Host: host, Port: to.port, Reason: "is not the host connected to, " + to.host}
	case to != nil:
		port = to.port
	}
	t.host, t.port = host, port
	return t, nil
}

// connect handles CONNECT.
func (g *Gate) connect(c *conn, w http.ResponseWriter, r *http.Request) {
	host, port, err := splitHost(r.RequestURI, 0)
	if err == nil && port == 0 {
		err = errors.New("CONNECT needs host:port")
	}
	var t *target
	if err == nil {
		t, err = c.s.target(r.Context(), host, port)
	}
	if err == nil {
		// Now, since there are no words for a refusal after the answer.
		t.addrs, err = g.resolve(r.Context(), t)
	}
	if err != nil {
		c.s.refuse(egress.Event{Protocol: "connect", Host: host, Port: port}, err)
		deny(w, err)
		return
	}
	_, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	ahead, _ := rw.Reader.Peek(rw.Reader.Buffered())
	c.unread(ahead)
	c.s.established(c, t, "connect", []byte("HTTP/1.1 200 Connection established\r\n\r\n"))
}

// splitHost splits an authority; its port is the default if it has none.
func splitHost(authority string, port int) (string, int, error) {
	u, err := url.Parse("//" + authority)
	if err != nil || u.Host != authority || u.User != nil {
		return authority, 0, fmt.Errorf("%.300q is not a host", authority)
	}
	if u.Port() == "" {
		return u.Hostname(), port, nil
	}
	p, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Hostname(), int(p), err
}

// deny answers 403 with the reason in the status line, which the errors of most clients
// show, and in the body.
func deny(w http.ResponseWriter, reason error) {
	nc, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // HTTP/2 has no reason phrase
		fail(w, http.StatusForbidden, reason.Error())
		return
	}
	writeStatus(nc, http.StatusForbidden, reason.Error())
	// What the program still sends is read, so that the answer is not lost in a reset.
	_ = closeWrite(nc)
	_ = nc.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, nc, 1<<20)
	_ = nc.Close()
}

// fail answers with a status and a line of text.
func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "network policy: "+text+"\n")
}

// writeStatus writes a whole answer of HTTP/1.1.
func writeStatus(nc net.Conn, status int, text string) {
	_ = nc.SetWriteDeadline(time.Now().Add(10 * time.Second))
	body := "network policy: " + text + "\n"
	phrase := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || unicode.IsControl(r) {
			return '?'
		}
		return r
	}, text)
	_, _ = fmt.Fprintf(nc, "HTTP/1.1 %d %.500s\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, phrase, len(body), body)
}
