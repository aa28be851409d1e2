package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/tools"
)

// An owner stands for the client of calls that belong to no session.
type owner string

// handler serves calls of the tool of that name.
func (s *Server) handler(name string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, end, err := s.begin(ctx, req)
		if err != nil {
			return nil, err
		}
		defer end()
		args := req.Params.Arguments
		if len(args) == 0 {
			args = []byte("{}")
		}
		p := s.newProgress(ctx, req)
		reply := s.set.Dispatch(ctx, name, args, &tools.CallOptions{OnOutput: p.observer()})
		p.stop()
		return result(reply), nil
	}
}

// begin starts a call: it finds out whose it is and ends it when the server,
// the session or the HTTP request that brought it ends.
func (s *Server) begin(ctx context.Context, req *mcp.CallToolRequest) (context.Context, func(), error) {
	var from *carrier
	if req.Extra != nil {
		from = s.carrier(req.Extra.Header)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, nil, errServerClosed
	}
	s.calls.Add(1)
	s.mu.Unlock()

	ctx, cancel := context.WithCancelCause(ctx)
	follow := func(other context.Context) func() bool {
		return context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	}
	stops := []func() bool{follow(s.ctx)}
	if from != nil {
		stops = append(stops, follow(from.ctx))
	}
	if from != nil && from.sessionless {
		ctx = withClient(ctx, from.owner)
	} else {
		ctx = withClient(ctx, req.Session)
		stops = append(stops, follow(s.session(req.Session, from)))
	}
	if t, ok := traceOf(req.Params.Meta); ok {
		ctx = tools.WithTrace(ctx, t)
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
		s.calls.Done()
	}, nil
}

// A session is what a client has that is connected for more than one call.
type session struct {
	ctx   context.Context // ends with the session, or before where the client asks for that
	end   context.CancelCauseFunc
	owner owner
}

// session returns a context that ends with the session. The first call of a
// session starts to watch it.
func (s *Server) session(ss *mcp.ServerSession, from *carrier) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.sessions[ss]; ok {
		return known.ctx
	}
	ctx, end := context.WithCancelCause(s.ctx)
	known := session{ctx: ctx, end: end}
	if from != nil {
		known.owner = from.owner
	}
	s.sessions[ss] = known
	s.watches.Go(func() {
		ss.Wait()
		end(errSessionOver)
		s.mu.Lock()
		delete(s.sessions, ss)
		s.mu.Unlock()
		s.clients.release(ss)
	})
	return ctx
}

// endSession ends the calls of the owner's session of that id, which would
// otherwise be waited for.
func (s *Server) endSession(id string, of owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss, known := range s.sessions {
		if ss.ID() == id && known.owner == of {
			known.end(errSessionOver)
		}
	}
}
