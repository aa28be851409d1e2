package mcpserver

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/tools"
)

// An owner is the client of calls without a session: the user of their token.
type owner string

// anyone is the owner of calls without a token and without a session.
const anyone owner = ""

// handler serves calls of the tool of that name in set.
func (s *Server) handler(set *tools.Set, name string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		ctx, end, err := s.begin(ctx, req)
		if err != nil {
			return nil, err
		}
		defer end()
		args := req.Params.Arguments
		if len(args) == 0 { // tools/call may omit them
			args = []byte("{}")
		}
		c := &collector{}
		ctx = context.WithValue(ctx, linksKey{}, c)
		p := s.newProgress(ctx, req)
		done := s.metrics.begin()
		reply := set.Dispatch(ctx, name, args, &tools.DispatchOptions{OnOutput: p.observer()})
		// The protocol forbids progress after the answer.
		p.stop()
		took, outcome := time.Since(start), outcomeOf(reply)
		done(name, outcome, took)
		s.opts.Logger.LogAttrs(ctx, slog.LevelInfo, "call", slog.String("tool", name), slog.Float64("durationMs", float64(took.Microseconds())/1000),
			slog.String("outcome", outcome), slog.String("session", short(req.Session.ID(), 8)))
		if s.ctx.Err() != nil {
			reply = shutdown(reply)
		}
		res := result(reply)
		res.Content = append(res.Content, c.links(req, s.scrub)...)
		return res, nil
	}
}

// shutdown returns the answer to a call that the end of the server has canceled.
func shutdown(a *tools.Answer) *tools.Answer {
	if a == nil || a.Result == nil || a.Result.Status != codeinterp.StatusCanceled {
		return a
	}
	said := *a // an Answer may be shared
	said.Text = strings.Replace(a.Text, "the call was canceled", errServerClosed.Error(), 1)
	return &said
}

// outcomeOf is the status of a run, the code of a failure, or ok.
func outcomeOf(a *tools.Answer) string {
	switch {
	case a == nil:
		return tools.CodeInternal
	case a.Failure != nil:
		return a.Failure.Code
	case a.Result != nil:
		return string(a.Result.Status)
	}
	return "ok"
}

// begin starts a call: it finds its client, and ends the call when the server, the session
// or the HTTP request ends.
func (s *Server) begin(ctx context.Context, req *mcp.CallToolRequest) (context.Context, func(), error) {
	from, err := s.requests.of(req.Extra)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errServerClosed.Error()}
	}
	s.calls.Add(1) // under mu: Close waits for calls after it has set draining
	s.mu.Unlock()
	var key any
	ends := []context.Context{s.ctx}
	if from != nil {
		ends = append(ends, from.ctx)
	}
	if from != nil && from.sessionless {
		key = from.owner
	} else {
		own, err := s.session(req.Session, from)
		if err != nil {
			s.calls.Done()
			return nil, nil, err
		}
		key, ends = own, append(ends, own.ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var stops []func() bool
	for _, other := range ends {
		stops = append(stops, context.AfterFunc(other, func() { cancel(context.Cause(other)) }))
	}
	ctx = callers.With(withClient(ctx, key), key)
	return tools.WithTrace(ctx, traceOf(req.Params.Meta)), func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
		s.calls.Done()
	}, nil
}

// traceOf reads the trace context of a request's _meta.
func traceOf(meta mcp.Meta) tools.Trace {
	t := tools.Trace{}
	for _, name := range []string{"traceparent", "tracestate", "baggage"} {
		if s, ok := meta[name].(string); ok {
			t[name] = s
		}
	}
	return t
}
