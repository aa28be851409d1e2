package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // pictures are decoded before they are shown
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/codemode"
)

const (
	maxText   = 256 << 10 // of an answer to the model itself
	maxImages = 4
	maxImage  = tools.DefaultMaxImageSize
	maxNotes  = 20 // of files that are not shown
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
	if len(a.Text) > maxText {
		a.Text, a.Data = fmt.Sprintf("%s\n[%d more bytes]", clip(a.Text, maxText), len(a.Text)-maxText), nil
	}
	show(a, files)
	a.Text = strings.TrimPrefix(a.Text, "\n")
	return a
}

// failureOf returns the failure that the model reads: the tool's message, or that the call
// was not sent.
func failureOf(ctx context.Context, err error) *tools.Failure {
	_, unsent := errors.AsType[unsentError](err)
	reported, ok := errors.AsType[*codeinterp.FunctionError](err)
	switch {
	case ok && unsent:
		return &tools.Failure{Code: tools.CodeUnavailable, Message: reported.Message}
	case ok:
		return &tools.Failure{Code: tools.CodeFailed, Message: reported.Message}
	case ctx.Err() != nil && unsent:
		return &tools.Failure{Code: tools.CodeCanceled, Message: "the call was canceled; nothing was done"}
	case ctx.Err() != nil:
		return &tools.Failure{Code: tools.CodeFailed, Message: "the call was canceled; it may or may not have been done"}
	}
	return &tools.Failure{Code: tools.CodeInternal, Message: "the tool's answer cannot be read"}
}

// show adds files to an answer to the model.
func show(a *tools.Answer, files []codemode.File) {
	notes := 0
	for _, f := range files {
		if i, ok := picture(f); ok && len(a.Images) < maxImages {
			a.Images = append(a.Images, i)
			a.Text += fmt.Sprintf("\n[image %d]", len(a.Images))
			continue
		}
		if notes++; notes <= maxNotes {
			a.Text += fmt.Sprintf("\n[%s of %d bytes, not shown]", f.MIME, len(f.Data))
		}
	}
	if notes > maxNotes {
		a.Text += fmt.Sprintf("\n[%d more files, not shown]", notes-maxNotes)
	}
}

// picture returns a file as an image if models can see it.
func picture(f codemode.File) (tools.Image, bool) {
	c, format, err := image.DecodeConfig(bytes.NewReader(f.Data))
	if err != nil || len(f.Data) > maxImage || f.MIME != "image/"+format {
		return tools.Image{}, false
	}
	return tools.Image{MIME: f.MIME, Data: f.Data, Width: c.Width, Height: c.Height}, true
}
