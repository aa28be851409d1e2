package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode"
)

// answer calls a tool and returns the value and the files of its answer.
func (s *server) answer(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, []codemode.File, error) {
	res, err := s.call(ctx, tool, args)
	if err != nil {
		return nil, nil, err
	}
	return s.value(res)
}

// call calls a tool. Its errors are FunctionErrors or those of ctx.
func (s *server) call(ctx context.Context, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	own := ctx
	if d := s.set.opts.Timeout; d > 0 {
		var cancel context.CancelFunc
		own, cancel = context.WithTimeoutCause(ctx, d, errSlow)
		defer cancel()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	live, err := s.session(own, false)
	if err != nil {
		return nil, s.failure(ctx, own, tool, err, "Nothing was done.")
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	type answer struct {
		res *mcp.CallToolResult
		err error
	}
	done := make(chan answer, 1)
	go func() { // CallTool may wait for a pipe that is full
		res, err := live.CallTool(own, &mcp.CallToolParams{Name: tool, Arguments: args})
		done <- answer{res, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-own.Done():
		a.err = context.Cause(own)
	}
	if a.err == nil {
		return a.res, nil
	}
	if _, answered := answerOf(a.err); !answered && s.URL == "" {
		select { // so that the next call does not use a session that is about to end
		case <-live.done:
		case <-own.Done():
		case <-time.After(settle):
		}
	}
	return nil, s.failure(ctx, own, tool, a.err, "It may or may not have been done.")
}

// answerOf returns the message of err if the server has sent it.
func answerOf(err error) (string, bool) {
	var e *jsonrpc.Error
	if !errors.As(err, &e) || errors.Is(err, mcp.ErrConnectionClosed) {
		return "", false
	}
	return e.Message, true
}

// failure returns the error that programs read: the message of the server, or that it
// failed, without details of its process and connection.
func (s *server) failure(ctx, own context.Context, tool string, err error, done string) error {
	s.set.opts.Logger.Info("a call of an MCP tool failed", "server", s.Name, "tool", tool, "err", err)
	message, answered := answerOf(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case own.Err() != nil, errors.Is(err, errSlow):
		message = fmt.Sprintf("the server %s has not answered within %v. %s", s.Name, s.set.opts.Timeout, done)
	case answered:
		message = s.clean(message, maxError)
	default:
		message = fmt.Sprintf("the server %s cannot be reached, or has ended during the call. %s", s.Name, done)
	}
	return &codeinterp.FunctionError{Message: message}
}
