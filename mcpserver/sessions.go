package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	// errSessionOver is why calls end whose session has.
	errSessionOver = errors.New("the client's session is over")

	// errClientGone is why a request is not served whose client did not wait.
	errClientGone = errors.New("the client has gone")
)

// A session is what a client has that is connected for more than one call.
type session struct {
	ctx   context.Context // ends with the session, or before where the client asks for that
	end   context.CancelCauseFunc
	owner owner
	notes int // notifications that it is to come to; guarded by mu of the Server
}

// Life is for [tools.ClientLife].
func (s *session) Life() context.Context { return s.ctx }

// over reports whether the session has ended.
func (s *session) over() bool { return s.ctx.Err() != nil }

// A carrier is the HTTP request that brought a message.
type carrier struct {
	ctx         context.Context // ends when the client is gone
	owner       owner
	sessionless bool
	party       party
	notes       int // notifications that it brings

	// leave gives up the place among the sessions that a request holds
	// which wants one, until its session takes it over. Guarded by mu of the
	// Server; nil where there is none.
	leave func()

	// free gives up the places of the request itself and of its answers, which has
	// users: it, and its calls. Guarded by mu of the Server.
	free    func()
	users   int
	answers *places
}

// carry makes c known as what brings the request, until it was served.
func (s *Server) carry(id string, c *carrier) (served func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carriers[id] = c
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.carriers, id)
		if c.leave != nil {
			c.leave()
		}
	}
}

// carrier returns what brought a request, nil if that was not HTTP. It fails
// where the client has gone in the meantime.
func (s *Server) carrier(extra *mcp.RequestExtra) (*carrier, error) {
	if extra == nil || extra.Header.Get(headerCarrier) == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.carriers[extra.Header.Get(headerCarrier)]
	if c == nil {
		return nil, errClientGone
	}
	return c, nil
}

// sessions sees every session begin, before its client knows of it.
func (s *Server) sessions(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if ss, ok := req.GetSession().(*mcp.ServerSession); ok && method == "initialize" {
			from, err := s.carrier(req.GetExtra())
			if err == nil {
				_, err = s.session(ss, from)
			}
			if err != nil {
				return nil, err
			}
		}
		return next(ctx, method, req)
	}
}

// session returns what is known of a session. It is watched from the first
// time on.
func (s *Server) session(ss *mcp.ServerSession, from *carrier) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errServerClosed
	}
	if known, ok := s.known[ss]; ok {
		return known, nil
	}
	ctx, end := context.WithCancelCause(s.ctx)
	known := &session{ctx: ctx, end: end}
	leave := func() {}
	if from != nil {
		known.owner = from.owner
		if from.leave != nil {
			// From here on the place is the session's, and outlasts the request.
			leave, from.leave = from.leave, nil
		}
	}
	s.known[ss] = known
	s.watches.Go(func() {
		ss.Wait()
		// First: from then on nothing begins or is kept for it that release would miss.
		end(errSessionOver)
		s.mu.Lock()
		delete(s.known, ss)
		s.mu.Unlock()
		s.clients.release(known)
		s.resources.release(known)
		leave()
	})
	return known, nil
}

// endSession ends the calls of the owner's session of that id, which would
// otherwise be waited for.
func (s *Server) endSession(id string, of owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss, known := range s.known {
		if ss.ID() == id && known.owner == of {
			known.end(errSessionOver)
		}
	}
}

// places are those that the sessions of one transport have, or the bytes of its
// requests or answers. One owner gets no more than a share of them, so that none shuts
// the others out.
type places struct {
	most, share int

	mu    sync.Mutex
	taken map[owner]int
	all   int
}

// newPlaces returns the places of a transport. Where there are several owners,
// they have equal shares; where nobody knows how many, one has half at most.
func newPlaces(o *HTTPOptions) *places {
	p := &places{most: o.MaxSessions, share: o.MaxSessions, taken: map[owner]int{}}
	if among := o.partyOf(nobody); among.among > 0 {
		p.share = among.share(p.most)
	}
	return p
}

// take takes n places if there are as many, and returns what gives them up.
func (p *places) take(of owner, n int) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all+n > p.most || p.taken[of]+n > p.share {
		return nil, false
	}
	p.all += n
	p.taken[of] += n
	return func() { p.give(of, n) }, true
}

func (p *places) give(of owner, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all -= n
	if p.taken[of] -= n; p.taken[of] == 0 {
		delete(p.taken, of)
	}
}

// opensSession reports whether a request asks for a session to be opened.
func opensSession(r *http.Request) bool {
	return r.Method == http.MethodPost && r.Header.Get(headerSession) == ""
}
