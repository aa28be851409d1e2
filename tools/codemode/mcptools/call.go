package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/codemode"
)

var (
	errDeep      = errors.New("the server's answer is nested too deep")
	errMalformed = errors.New("the server's answer is no result of a tool")
	errNoAnswer  = errors.New("the server's answer has ended without a result")
)

// undone is an error of a call that the server did not get.
type undone struct{ error }

func (e undone) Unwrap() error { return e.error }

// answer calls a tool and returns what value says of its answer.
func (s *server) answer(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, []codemode.File, error) {
	by := &caller{room: &s.set.room, done: make(chan struct{})}
	if s.URL != "" { // which takes its room before it has sent all
		by.room = &s.own
	}
	defer by.end()
	res, err := s.call(context.WithValue(ctx, callerKey{}, by), tool, args)
	if err != nil {
		return nil, nil, err
	}
	return s.value(res)
}

// call calls a tool. Its errors are for programs to read, or those of ctx.
func (s *server) call(ctx context.Context, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
	own := ctx
	if d := s.set.opts.Timeout; d > 0 {
		var cancel context.CancelFunc
		own, cancel = context.WithTimeoutCause(ctx, d, errSlow)
		defer cancel()
	}
	if ctx.Err() != nil {
		return nil, undone{context.Cause(ctx)}
	}
	live, err := s.session(own)
	if err != nil {
		return nil, undone{s.failure(ctx, own, tool, err, "Nothing was done.")}
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	type answer struct {
		res *mcp.CallToolResult
		err error
	}
	done := make(chan answer, 1)
	go func() { // the SDK tells the server of ctx's end, and may wait for its pipe
		res, err := live.CallTool(own, &mcp.CallToolParams{Name: tool, Arguments: args})
		done <- answer{res, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-own.Done():
		a.err = context.Cause(own)
	// Of a session that has ended the answer may have come just before.
	case <-live.done:
		select {
		case a = <-done:
		default:
			a.err = errAway
		}
	}
	if a.err != nil {
		// Known before done is closed, so that the next call does not go to it.
		if by, ok := ctx.Value(callerKey{}).(*caller); ok {
			by.end() // answers to others may wait for its room, and a ping's behind them
			if err := by.refused(); err != nil {
				live.gone.Store(true) // the SDK ends the session with that
				return nil, s.failure(ctx, own, tool, err, "")
			}
		}
		if own.Err() == nil && fatal(a.err) {
			a.err = live.verdict(own, a.err)
		}
		return nil, s.failure(ctx, own, tool, a.err, "It may or may not have been done.")
	}
	return a.res, nil
}

// verdict is what the error of a call means for the session, and so for the program.
// That may take longer than the call has, and is found out for the next one then.
func (l *link) verdict(ctx context.Context, err error) error {
	found := make(chan error, 1)
	go func() {
		if l.answers() {
			kind := errMalformed
			// The SDK's words for a stream that has ended; there is no such error.
			if strings.Contains(err.Error(), "without response") {
				kind = errNoAnswer
			}
			found <- fmt.Errorf("%w: %w", kind, err)
			return
		}
		l.gone.Store(true)
		if bounded(closing, func() { <-l.read }) && l.deep {
			err = errDeep
		}
		found <- err
	}()
	select {
	case err := <-found:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answers reports whether the session goes on after the error of a call, which the
// SDK does not tell: then it could not read the result.
func (l *link) answers() bool {
	if l.over() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-l.done:
			cancel()
		case <-stop:
		}
	}()
	err := l.Ping(ctx, nil)
	return err == nil || !fatal(err)
}

// fatal reports whether the session may have ended with the error of a call.
func fatal(err error) bool {
	var answered *jsonrpc.Error
	// That of a request which the SDK calls rejected is none: the session goes on.
	return !errors.As(err, &answered) || errors.Is(err, mcp.ErrConnectionClosed)
}

// rejected is the SDK's code for a request over HTTP that failed, with text of its
// own. It has the type of what servers answer, but says that they have not.
const (
	rejected     = -32005
	rejectedText = "rejected by transport"
)

// told returns what a server answered in place of a result, if err is that.
func told(err error) (string, bool) {
	var answered *jsonrpc.Error
	if !errors.As(err, &answered) || answered.Code == rejected && answered.Message == rejectedText {
		return "", false
	}
	return answered.Message, true
}

// failure is what programs learn of an error: what a server answered, and of its
// process and its connection nothing but that they failed.
func (s *server) failure(ctx, own context.Context, tool string, err error, done string) error {
	s.set.opts.Logger.Info("a call of an MCP tool failed", "server", s.Name, "tool", tool, "err", err)
	message := fmt.Sprintf("the server %s cannot be reached, or has ended during the call. %s", s.Name, done)
	answer, answered := told(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case own.Err() != nil, errors.Is(err, errSlow):
		message = fmt.Sprintf("the server %s has not answered within %v. %s", s.Name, s.set.opts.Timeout, done)
	case errors.Is(err, errDeep):
		message = fmt.Sprintf("the server %s has answered with what is nested too deep (1000 levels are possible), and was ended. %s", s.Name, done)
	case errors.Is(err, errMembers):
		message = fmt.Sprintf("%v. It may or may not have been done.", errMembers)
	case errors.Is(err, errMalformed):
		message = fmt.Sprintf("the server %s has answered with what is no result of a tool. It may or may not have been done.", s.Name)
	case errors.Is(err, errNoAnswer):
		message = fmt.Sprintf("the server %s has ended its answer without a result. It may or may not have been done.", s.Name)
	case answered:
		message = s.clean(answer, maxError)
	}
	return &codeinterp.FunctionError{Message: message}
}
