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

// serve handles requests of programs: those in the clear, to a proxy or without one, and
// those within TLS that ends here.
func (g *Gate) serve(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn)
	if r.TLS == nil && r.Method == http.MethodConnect {
		g.connect(c, w, r)
		return
	}
	proxy := httputil.ReverseProxy{
		Transport: c.s, ErrorLog: g.server.ErrorLog, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			if p.Out.URL.Host = r.Host; r.TLS != nil {
				p.Out.URL.Scheme = "https"
			} else if !r.URL.IsAbs() {
				p.Out.URL.Scheme = "http"
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if no, ok := errors.AsType[*egress.Refusal](err); ok {
				deny(w, no)
				return
			}
			fail(w, http.StatusBadGateway, r.Host+" cannot be reached: "+plain(err))
		},
	}
	proxy.ServeHTTP(w, r)
}

// connect handles CONNECT.
func (g *Gate) connect(c *conn, w http.ResponseWriter, r *http.Request) {
	host, port, err := splitHost(r.RequestURI, 0)
	if err == nil && port == 0 {
		err = errors.New("CONNECT needs host:port")
	}
	t, err := c.s.settle(r.Context(), "connect", host, port, err)
	if err != nil {
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
