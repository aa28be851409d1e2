package mcpserver

import (
	"errors"
	"io"
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
// length. Where it does not say that, its body takes them as it is read. Methods
// other than POST bring nothing that is read, and are always served.
func (t *transport) request(r *http.Request, of owner) (leave func(), ok bool) {
	if r.Method != http.MethodPost {
		r.Body = http.NoBody
		return func() {}, true
	}
	b := &countedBody{ReadCloser: r.Body, places: t.requests, of: of}
	if r.ContentLength >= 0 {
		b.room = int(min(r.ContentLength, t.MaxBody))
	}
	if _, ok := b.places.take(of, b.room+requestSize); !ok {
		return nil, false
	}
	r.Body = b
	return func() { b.places.give(of, b.room+requestSize) }, true
}

// batch takes places for what a request brings as if each of its calls came with one
// of its own.
func (t *transport) batch(c *carrier, calls int) bool {
	if calls < 2 {
		return true
	}
	leave, ok := t.requests.take(c.owner, (calls-1)*requestSize)
	if ok {
		free := c.free
		c.free = func() { leave(); free() }
	}
	return ok
}

// A countedBody takes places for what is read beyond its room.
type countedBody struct {
	io.ReadCloser
	places     *places
	of         owner
	room, read int
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.read += n; b.read > b.room {
		more := max(b.read-b.room, requestSize)
		if _, ok := b.places.take(b.of, more); !ok {
			return 0, errRequests
		}
		b.room += more
	}
	return n, err
}

var (
	errRequests = errors.New("too many requests wait for their answers")
	errNotes    = errors.New("too many notifications wait for their session")
)

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
