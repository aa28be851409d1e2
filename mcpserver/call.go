package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/tools"
)

// An owner stands for the client of calls that belong to no session.
type owner string

// nobody owns what came without a token and without a session: anybody does
// who knows the ids.
const nobody owner = ""

// handler serves calls of the tool of that name.
func (s *Server) handler(name string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, end, err := s.begin(ctx, req)
		if err != nil {
			return nil, err
		}
		defer end()
		args := req.Params.Arguments
		// tools/call may leave the arguments out.
		if len(args) == 0 {
			args = []byte("{}")
		}
		c := &collector{}
		ctx = context.WithValue(ctx, linksKey{}, c)
		p := s.newProgress(ctx, req)
		reply := s.set.Dispatch(ctx, name, args, &tools.DispatchOptions{OnOutput: p.observer()})
		// The protocol wants no progress after the answer.
		p.stop()
		res := result(reply)
		res.Content = append(res.Content, c.links(req, s.scrub)...)
		return res, nil
	}
}

// begin starts a call: it finds out whose it is and ends it when the server,
// the session or the HTTP request that brought it ends.
func (s *Server) begin(ctx context.Context, req *mcp.CallToolRequest) (context.Context, func(), error) {
	from, key, err := s.client(req)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	follow := func(other context.Context) func() bool {
		return context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	}
	stops := []func() bool{follow(s.ctx)}
	if from != nil {
		stops = append(stops, follow(from.ctx))
		ctx = context.WithValue(ctx, partyKey{}, from.party)
		if from.party.among > 0 {
			ctx = tools.WithParty(ctx, from.party, from.party.among)
		}
	}
	if own, ok := key.(*session); ok {
		stops = append(stops, follow(own.ctx))
	}
	ctx = tools.WithClient(withClient(ctx, key), key)
	if t, ok := traceOf(req.Params.Meta); ok {
		ctx = tools.WithTrace(ctx, t)
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
		s.unuse(from)
		s.calls.Done()
	}, nil
}

// client finds out whose a call is: its session's or that of an owner. Unless
// it fails, Close waits for the call.
func (s *Server) client(req *mcp.CallToolRequest) (from *carrier, key any, err error) {
	if from, err = s.carrier(req.Extra); err != nil {
		return nil, nil, err
	}
	if !s.use(from) {
		return nil, nil, errClientGone
	}
	if key, err = s.keyOf(req, from); err != nil {
		s.unuse(from)
		return nil, nil, err
	}
	return from, key, nil
}

// keyOf is client, for what brought the call.
func (s *Server) keyOf(req *mcp.CallToolRequest, from *carrier) (any, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errServerClosed
	}
	// Under the same mu as closed: Close waits for the calls once it has set that.
	s.calls.Add(1)
	s.mu.Unlock()
	if from != nil && from.sessionless {
		return from.owner, nil
	}
	own, err := s.session(req.Session, from)
	if err != nil {
		s.calls.Done()
		return nil, err
	}
	return own, nil
}
