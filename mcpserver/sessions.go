package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	// errSessionOver is why calls end whose session has ended.
	errSessionOver = errors.New("the client's session is over")

	// errClientGone is why a request is not served whose client did not wait.
	errClientGone = errors.New("the client has gone")
)

// A session is a client that is connected for more than one call.
type session struct {
	ctx   context.Context // ends with the session, or before if the client asks for that
	end   context.CancelCauseFunc
	owner owner
	http  bool
}

// Life returns a context that ends with the client; see package callers.
func (s *session) Life() context.Context { return s.ctx }

func (s *session) over() bool { return s.ctx.Err() != nil }

// A request is the HTTP request that brought a message.
type request struct {
	ctx         context.Context // ends when the client is gone
	owner       owner
	sessionless bool
}

// requests are the HTTP requests in progress, by a header that the server sets.
type requests struct{ byID sync.Map }

// add makes r known until done, and returns its id.
func (rs *requests) add(r *request) (id string, done func()) {
	id = rand.Text()
	rs.byID.Store(id, r)
	return id, func() { rs.byID.Delete(id) }
}

// of returns the HTTP request that brought a message, nil if it came another way. It fails
// if the client has gone.
func (rs *requests) of(extra *mcp.RequestExtra) (*request, error) {
	if extra == nil || extra.Header.Get(headerRequest) == "" {
		return nil, nil
	}
	r, ok := rs.byID.Load(extra.Header.Get(headerRequest))
	if !ok {
		return nil, errClientGone
	}
	return r.(*request), nil
}

// sessions sees every session begin, before its client does.
func (s *Server) sessions(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		ss, ok := req.GetSession().(*mcp.ServerSession)
		if ok && (method == "initialize" || method == "tools/list") {
			from, err := s.requests.of(req.GetExtra())
			if err == nil && (from == nil || !from.sessionless) {
				_, err = s.session(ss, from)
			}
			if err != nil {
				return nil, err
			}
		}
		return next(ctx, method, req)
	}
}

// session returns what is known of a session, which is watched from the first time on.
func (s *Server) session(ss *mcp.ServerSession, from *request) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Known sessions stay while calls end: a client may ask for the list of tools before
	// it takes an answer.
	if known, ok := s.known[ss]; ok {
		return known, nil
	}
	if s.draining {
		return nil, errServerClosed
	}
	ctx, end := context.WithCancelCause(s.ctx)
	known := &session{ctx: ctx, end: end}
	if from != nil {
		known.owner, known.http = from.owner, true
	}
	s.known[ss] = known
	s.opts.Logger.Info("session started", slog.String("session", short(ss.ID(), 8)))
	s.watches.Go(func() {
		ss.Wait()
		// First: from then on nothing starts for it that release would miss.
		end(errSessionOver)
		s.mu.Lock()
		delete(s.known, ss)
		s.mu.Unlock()
		s.clients.release(known)
		s.resources.release(known)
		s.opts.Logger.Info("session ended", slog.String("session", short(ss.ID(), 8)))
	})
	return known, nil
}

// httpSessions returns how many sessions there are over HTTP.
func (s *Server) httpSessions() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.known {
		if known.http {
			n++
		}
	}
	return n
}

// endSession ends the calls of the owner's session of that id. The SDK would wait for them.
func (s *Server) endSession(id string, of owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss, known := range s.known {
		if ss.ID() == id && known.owner == of {
			known.end(errSessionOver)
		}
	}
}
