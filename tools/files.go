package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/internal/shorten"
)

// ForFiles returns the tools for the files of the workspace of that name, in an
// order that is always the same. opts may be nil; what is about programs in it
// is not used. Contents that are read or searched are scrubbed of
// Options.Secrets.
func ForFiles(workspace string, f *files.Workdir, opts *Options) ([]Tool, error) {
	o, err := opts.complete(workspace)
	if err != nil {
		return nil, err
	}
	fo := files.Options{MaxRead: o.MaxText}
	if secrets := o.Secrets.Set(); secrets != nil {
		fo.Filter = func(emit func([]byte)) (func([]byte), func()) {
			text := secrets.Text()
			return func(p []byte) { emit(text.Next(p)) }, func() { emit(text.End()) }
		}
	}
	k := &kit{Options: o, workspace: workspace, files: f.With(&fo), limits: limits{maxRead: int64(o.MaxText)}}
	k.facts = newFacts(codeinterp.Info{}, k)
	return k.tools()
}

type fileJSON struct {
	Path       string `json:"path"`
	Text       string `json:"text" jsonschema:"description=The contents; empty where they are binary."`
	Binary     bool   `json:"binary,omitempty" jsonschema:"description=The file is no text."`
	Line       int64  `json:"line" jsonschema:"description=The line that the text starts in\\, from 1."`
	Offset     int64  `json:"offset" jsonschema:"description=The byte that the text starts at."`
	Size       int64  `json:"size" jsonschema:"description=The size of the file in bytes."`
	NextLine   int64  `json:"nextLine,omitempty" jsonschema:"description=The line that the next page starts at; there is none after the last\\, and where the page ends within a line."`
	NextOffset int64  `json:"nextOffset,omitempty" jsonschema:"description=The byte that the next page starts at; there is none after the last."`
}

type writtenJSON struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes" jsonschema:"description=How many bytes were written."`
}

type editedJSON struct {
	Path     string `json:"path"`
	Replaced int    `json:"replaced" jsonschema:"description=How many places were replaced."`
}

func (k *kit) readFile(ctx context.Context, c toolCall) *Answer {
	page, err := k.files.Read(ctx, c.path, files.Range{Line: c.line, Lines: c.lines, Offset: c.offset, Bytes: c.limit})
	if err != nil {
		return k.fileFailed(ctx, c, err)
	}
	j := fileJSON{k.Secrets.Scrub(c.path), strings.ToValidUTF8(page.Text, "\uFFFD"), page.Binary, page.Line, page.Offset, page.Size, page.NextLine, page.NextOffset}
	r := answer(c.ID, c.Tool, j)
	r.Text = j.String()
	return r
}

// String is what a model reads: a line about the page, then the page as it is.
func (j fileJSON) String() string {
	if j.Binary {
		return fmt.Sprintf("[a binary file of %s; use a program to look into it]", bytesOf(j.Size))
	}
	if j.Text == "" {
		return fmt.Sprintf("[nothing here; the file has %s]", bytesOf(j.Size))
	}
	about := fmt.Sprintf("from line %d, byte %d; the file has %s", j.Line, j.Offset, bytesOf(j.Size))
	switch {
	case j.NextLine > 0:
		about += fmt.Sprintf("; the next page starts at line %d", j.NextLine)
	case j.NextOffset > 0:
		about += fmt.Sprintf("; the next page starts at offset %d, within a line", j.NextOffset)
	default:
		about += "; this is its end"
	}
	return "[" + about + "]\n" + j.Text
}

func (k *kit) writeFile(ctx context.Context, c toolCall) *Answer {
	if err := k.files.Write(ctx, c.path, []byte(c.content), &files.WriteOptions{Append: c.append}); err != nil {
		return k.fileFailed(ctx, c, err)
	}
	return answer(c.ID, c.Tool, writtenJSON{k.Secrets.Scrub(c.path), len(c.content)})
}

func (k *kit) editFile(ctx context.Context, c toolCall) *Answer {
	n, err := k.files.Edit(ctx, c.path, c.oldText, c.newText, &files.EditOptions{All: c.all})
	if err != nil {
		return k.fileFailed(ctx, c, err)
	}
	return answer(c.ID, c.Tool, editedJSON{k.Secrets.Scrub(c.path), n})
}

func (k *kit) removeFile(ctx context.Context, c toolCall) *Answer {
	if err := k.files.Remove(ctx, c.path, &files.RemoveOptions{Recursive: c.all}); err != nil {
		return k.fileFailed(ctx, c, err)
	}
	return answer(c.ID, c.Tool, okJSON{true})
}

// fileFailed is the answer to a call that the files answered with an error.
func (k *kit) fileFailed(ctx context.Context, c toolCall, err error) *Answer {
	r := k.failed(ctx, c, err)
	if r.Failure.Code != CodeInternal {
		return r
	}
	f := Failure{CodeFile, shorten.Head(k.Secrets.Scrub(err.Error()), 4<<10)}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Code = CodeFileNotFound
		f.Message += "; " + advice[CodeFileNotFound]
	case errors.Is(err, codeinterp.ErrNotEmpty):
		f.Message += "; set recursive to remove it with all that is in it"
	}
	return fail(c.ID, c.Tool, &f, r.Err)
}

// reason is what is wrong with an argument, without what the model knows.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Sprintf("%.200q is %v", p.Path, p.Err)
	}
	return strings.TrimPrefix(err.Error(), codeinterp.ErrInvalid.Error()+": ")
}

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
