package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

const maxText = 256 << 10 // of an answer to the model itself

// invoke serves a call that the model itself makes.
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
		a.Text = s.clean(a.Text, len(a.Text)) // what moves a cursor tells a model nothing
	}
	if len(a.Text) > maxText {
		a.Text, a.Data = fmt.Sprintf("%s\n[%d more bytes]", clip(a.Text, maxText), len(a.Text)-maxText), nil
	}
	show(a, files)
	a.Text = strings.TrimPrefix(a.Text, "\n")
	return a
}

// failureOf is what the model learns of a call's error: the tool's own words, or that
// the server did not get the call.
func failureOf(ctx context.Context, err error) *tools.Failure {
	_, unsent := errors.AsType[undone](err)
	told, ok := errors.AsType[*codeinterp.FunctionError](err)
	switch {
	case ok && unsent:
		return &tools.Failure{Code: tools.CodeUnavailable, Message: told.Message}
	case ok:
		return &tools.Failure{Code: tools.CodeFailed, Message: told.Message}
	case ctx.Err() != nil && unsent:
		return &tools.Failure{Code: tools.CodeCanceled, Message: "the call was given up; nothing was done"}
	case ctx.Err() != nil:
		return &tools.Failure{Code: tools.CodeFailed, Message: "the call was given up; it may or may not have been done"}
	}
	return &tools.Failure{Code: tools.CodeInternal, Message: "the tool's answer cannot be told"}
}
