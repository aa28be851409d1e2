package mcpserver

import (
	"net/http"
)

const (
	// maxRequests is how many bytes the requests over HTTP have together that are
	// not answered yet: each is in memory several times over while it waits.
	maxRequests = 64 << 20

	// requestSize is what each counts for besides its body.
	requestSize = 32 << 10
)

// newRequests returns the places for the bytes of a transport's requests. Each
// owner has as many as the largest request wants.
func newRequests(o *HTTPOptions) *places {
	p := &places{most: maxRequests, share: maxRequests, taken: map[owner]int{}}
	among := o.partyOf(nobody)
	if among.among > 0 {
		p.share = among.share(p.most)
	}
	p.share = max(p.share, int(o.MaxBody)+requestSize)
	p.most = max(p.most, p.share*max(len(o.Tokens), 1))
	return p
}

// request takes places for a request before it is read, by what it says of its
// length. One that ends a session is always served.
func (t *transport) request(r *http.Request, of owner) (leave func(), ok bool) {
	if r.Method != http.MethodPost {
		return func() {}, true
	}
	size := t.MaxBody
	if r.ContentLength >= 0 {
		size = min(size, r.ContentLength)
	}
	return t.requests.take(of, int(size)+requestSize)
}

// use keeps the places of a request that has brought a call.
func (s *Server) use(c *carrier) bool {
	if c == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.users == 0 {
		return false
	}
	c.users++
	return true
}

// unuse gives the places up once the request is served and its calls have ended,
// which may be after the client has gone.
func (s *Server) unuse(c *carrier) {
	if c == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.users--; c.users == 0 {
		c.free()
	}
}
