package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/picture"
	"github.com/toolcell/toolcell/internal/shorten"
	"github.com/toolcell/toolcell/tools"
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
	live, err := s.session(own)
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
	if _, answered := answerOf(a.err); !answered {
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
		message = fmt.Sprintf("the server %s cannot be reached, or has failed during the call. %s", s.Name, done)
	}
	return &codeinterp.FunctionError{Message: message}
}

const (
	maxText   = 256 << 10 // of an answer to the model itself
	maxImages = tools.DefaultMaxImages
)

// invoke serves a call by the model.
func (s *server) invoke(ctx context.Context, tool, name string, c tools.Invocation) *tools.Answer {
	a := &tools.Answer{CallID: c.ID, Tool: name}
	value, files, err := s.answer(ctx, tool, c.Args)
	if err != nil {
		a.Failure, a.Err = failureOf(ctx, err), err
		a.Text = string(a.Failure.JSON())
		return a
	}
	// A value that is a string is text for the model, anything else JSON.
	if json.Unmarshal(value, &a.Text) != nil {
		a.Text, a.Data = string(value), value
	} else {
		a.Text = s.clean(a.Text, len(a.Text))
	}
	for _, f := range files {
		a.Text += "\n" + show(ctx, a, f)
	}
	a.Text = strings.TrimPrefix(a.Text, "\n")
	if len(a.Text) > maxText {
		a.Text, a.Data = fmt.Sprintf("%s\n[%d more bytes]", shorten.Head(a.Text, maxText), len(a.Text)-maxText), nil
	}
	return a
}

// failureOf returns the failure that the model reads.
func failureOf(ctx context.Context, err error) *tools.Failure {
	reported, ok := errors.AsType[*codeinterp.FunctionError](err)
	switch {
	case ok:
		return &tools.Failure{Code: tools.CodeFailed, Message: reported.Message}
	case ctx.Err() != nil:
		return &tools.Failure{Code: tools.CodeFailed, Message: "the call was canceled; it may or may not have been done"}
	}
	return &tools.Failure{Code: tools.CodeInternal, Message: "the tool's answer cannot be read"}
}

// show adds a picture to an answer, and returns the line about a file.
func show(ctx context.Context, a *tools.Answer, f codemode.File) string {
	if len(a.Images) < maxImages && len(f.Data) <= tools.MaxImageSize {
		if p, err := picture.Open(ctx, f.Data, tools.MaxImageEdge); err == nil {
			p.Close()
			a.Images = append(a.Images, tools.Image{MIME: p.MIME, Data: f.Data, Width: p.Width, Height: p.Height})
			return fmt.Sprintf("[image %d]", len(a.Images))
		}
	}
	return fmt.Sprintf("[%s of %d bytes, not shown]", f.MIME, len(f.Data))
}
