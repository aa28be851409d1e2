package gate

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/toolcell/toolcell/egress"
)

var errOtherHost = errors.New("the Host header is not the host connected to")

// fromProgram handles requests that come in the clear: those to a proxy, and those of
// programs that know of no proxy.
func (g *Gate) fromProgram(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return
	}
	if r.Method == http.MethodConnect {
		g.connect(c, w, r)
		return
	}
	e := egress.Event{Protocol: "http", Host: r.Host, Method: r.Method, Path: r.URL.Path}
	t, err := c.requested(r)
	if err == nil {
		e.Host, e.Port = t.host, t.port
		t, err = c.s.target(r.Context(), t.host, t.port)
	}
	if err != nil {
		c.s.refused(e, err)
		deny(w, err)
		return
	}
	c.serving.Store(t)
	defer c.serving.Store(nil)
	g.forward(w, r, c, t)
}

// requested returns the host and the port that a request in the clear names, which must
// be those of the connection where that has some.
func (c *conn) requested(r *http.Request) (*target, error) {
	authority := r.Host
	if r.URL.IsAbs() {
		if authority = r.URL.Host; r.URL.Scheme != "http" {
			return nil, errors.New("a proxy request is for http:// or CONNECT")
		}
	}
	host, port, err := splitHost(authority, 80)
	if err != nil {
		return nil, err
	}
	if t := c.target.Load(); t != nil {
		name, err := egress.CanonicalHost(host)
		switch {
		case err != nil:
			return nil, errOtherHost
		case name != t.host:
			return nil, &egress.Refusal{Host: name, Port: t.port, Reason: "is not the host connected to, " + t.host}
		}
		port = t.port
	}
	return &target{host: host, port: port}, nil
}

// fromTLS handles requests within TLS that ends here.
func (g *Gate) fromTLS(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return
	}
	t := c.target.Load()
	host, port, err := splitHost(r.Host, 443)
	if err == nil {
		host, err = egress.CanonicalHost(host)
	}
	if err != nil || host != t.host || port != t.port || r.Method == http.MethodConnect {
		c.s.refused(egress.Event{Protocol: "https", Host: r.Host, Port: t.port, Method: r.Method, Path: r.URL.Path}, errOtherHost)
		deny(w, errOtherHost)
		return
	}
	g.forward(w, r, c, t)
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
		c.s.refused(egress.Event{Protocol: "connect", Host: host, Port: port}, err)
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
	_, _ = fmt.Fprintf(nc, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, phrase(text), len(body), body)
}

// phrase makes text fit into a status line.
func phrase(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b[:min(len(b), 500)])
}
