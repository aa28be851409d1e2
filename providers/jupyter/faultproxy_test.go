package jupyter_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A faultProxy stands before a server and does to connections what networks do.
type faultProxy struct {
	ln net.Listener
	up string

	mu      sync.Mutex
	pairs   map[*pair]bool
	swallow bool // what the server sends goes nowhere
	refuse  bool
	rate    int // bytes a second from the server; 0: as they come

	requests []asked // REST calls, handshakes, and connections refused
}

type asked struct {
	at   time.Time
	what string
}

type pair struct {
	client, server net.Conn
	deaf           bool // nothing passes any more, and nobody is told
}

func newFaultProxy(t *testing.T, up string) *faultProxy {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &faultProxy{ln: ln, up: up, pairs: map[*pair]bool{}}
	go p.serve()
	t.Cleanup(func() { ln.Close(); p.cut() })
	return p
}

func (p *faultProxy) address() string { return p.ln.Addr().String() }

func (p *faultProxy) serve() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		go p.join(c)
	}
}

func (p *faultProxy) join(c net.Conn) {
	p.mu.Lock()
	refuse := p.refuse
	p.mu.Unlock()
	if refuse {
		p.asked("refused")
		c.Close()
		return
	}
	s, err := net.Dial("tcp", p.up)
	if err != nil {
		c.Close()
		return
	}
	pr := &pair{client: c, server: s}
	p.set(func() { p.pairs[pr] = true })
	go p.pump(pr, s, c, true)
	p.pump(pr, c, s, false)
}

// set changes what the proxy does.
func (p *faultProxy) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *faultProxy) pump(pr *pair, from, to net.Conn, down bool) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if !down {
			for line := range bytes.Lines(buf[:n]) {
				if what, ok := bytes.CutSuffix(line, []byte(" HTTP/1.1\r\n")); ok {
					p.asked(string(what))
				}
			}
		}
		p.mu.Lock()
		lose, rate := pr.deaf || down && p.swallow, p.rate
		p.mu.Unlock()
		if rate > 0 && down {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
		}
		if n > 0 && !lose {
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = io.EOF
			}
		}
		if err != nil {
			break
		}
	}
	from.Close()
	to.Close()
	p.set(func() { delete(p.pairs, pr) })
}

// asked notes a request.
func (p *faultProxy) asked(what string) {
	p.set(func() { p.requests = append(p.requests, asked{time.Now(), what}) })
}

// busiest returns the most requests that came within one window since a time.
func (p *faultProxy) busiest(since time.Time, window time.Duration) (most []asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := 0
	for i, r := range p.requests {
		for p.requests[first].at.Before(since) && first < i || r.at.Sub(p.requests[first].at) > window {
			first++
		}
		if !r.at.Before(since) && i-first+1 > len(most) {
			most = p.requests[first : i+1]
		}
	}
	return most
}

// cut closes all connections.
func (p *faultProxy) cut() {
	p.set(func() {
		for pr := range p.pairs {
			pr.client.Close()
			pr.server.Close()
		}
	})
}

// deafen makes the present connections half-open.
func (p *faultProxy) deafen() {
	p.set(func() {
		for pr := range p.pairs {
			pr.deaf = true
		}
	})
}
