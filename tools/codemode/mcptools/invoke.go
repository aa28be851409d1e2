package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/picture"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

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
		a.Text, a.Data = fmt.Sprintf("%s\n[%d more bytes]", clip(a.Text, maxText), len(a.Text)-maxText), nil
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
	if len(a.Images) < maxImages && len(f.Data) <= tools.DefaultMaxImageSize {
		if p, err := picture.Open(ctx, f.Data, tools.DefaultMaxImageEdge); err == nil {
			p.Close()
			a.Images = append(a.Images, tools.Image{MIME: p.MIME, Data: f.Data, Width: p.Width, Height: p.Height})
			return fmt.Sprintf("[image %d]", len(a.Images))
		}
	}
	return fmt.Sprintf("[%s of %d bytes, not shown]", f.MIME, len(f.Data))
}
