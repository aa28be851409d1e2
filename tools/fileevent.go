package tools

import (
	"context"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
)

// A FileCall is a call of a file tool.
type FileCall struct {
	CallID string
	Tool   string // the name of the tool
	Op     string // what it is called without the workspace, such as "write_file"

	// Path is what the call names, scrubbed of secrets: a file, or the directory
	// that is looked through, empty for the one that all is in.
	Path string

	// Changes says that the tool changes files.
	Changes bool

	// Remembered says that the call was answered from memory.
	Remembered bool

	// Err is the error of the call. It is not set before.
	Err error
}

// guardFiles returns the tool's serve with the approval and the event that every
// call of a file tool has.
func (k *kit) guardFiles(op *operation) func(*kit, context.Context, toolCall) *Answer {
	if k.files == nil || op.name == opReadOutput {
		return op.serve
	}
	return func(k *kit, ctx context.Context, c toolCall) *Answer {
		f := k.fileCall(op, c)
		a := k.approveFile(ctx, f, c)
		if a == nil {
			a = op.serve(k, ctx, c)
		}
		if k.OnFile != nil {
			f.Err = a.Err
			_ = observe.Recover(func() error { k.OnFile(f); return nil })
		}
		return a
	}
}

func (k *kit) fileCall(op *operation, c toolCall) FileCall {
	return FileCall{
		CallID: c.ID, Tool: k.name(op.name), Op: op.name, Path: k.Secrets.Scrub(c.path),
		Changes: !op.hints(codeinterp.Isolation{}).ReadOnly,
	}
}

// approveFile returns the answer to a call that is refused, nil if it is not.
func (k *kit) approveFile(ctx context.Context, f FileCall, c toolCall) *Answer {
	if k.ApproveFile == nil {
		return nil
	}
	err := observe.Recover(func() error { return k.ApproveFile(ctx, f) })
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return k.failed(ctx, c, context.Cause(ctx))
	}
	return k.failed(ctx, c, fmt.Errorf("%w: %w", codeinterp.ErrRefused, err))
}
