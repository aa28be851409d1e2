// Package memory makes a workspace of the embedded engines and of files, which
// share one file system in the memory of this process.
//
//	ws, err := memory.New("demo", nil)
//	...
//	defer ws.Close()
//	res, err := ws.Code().RunCode(ctx, "javascript", "require('fs').writeFileSync('a.txt', 'hello')", nil)
//	page, err := ws.Files().Read(ctx, "a.txt", files.Range{})
//
// Code of every engine, in contexts and without, and the file tools see the same
// files, below /. There are no commands, since the engines have none.
//
// # Security
//
// The walls are those of package inmemory. Within the file system all programs
// share everything, its limits too, and can disturb one another.
package memory

import (
	"errors"

	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/workspace"
)

// Options tunes a workspace. The zero value is ready to use.
type Options struct {
	// Engines tunes the interpreter. Its Files bounds the file system that all
	// share, unless its Shared is one that is there already.
	Engines inmemory.Options

	// Files tunes the files. Its Dir is not used.
	Files files.Options

	// Declared narrows the workspace to what it names, if it names code or files;
	// see [workspace.Declaration]. A shell is refused.
	Declared workspace.Declaration

	// Workspace tunes the tools and the events.
	Workspace workspace.Options
}

// New opens a workspace. opts may be nil. It fails as inmemory.NewStateful and
// workspace.New do.
func New(name string, opts *Options) (*workspace.Workspace, error) {
	if opts == nil {
		opts = &Options{}
	}
	caps, err := Capabilities(opts)
	if err != nil {
		return nil, err
	}
	ws, err := workspace.New(name, caps, &opts.Workspace)
	if err != nil {
		return nil, errors.Join(err, caps.Code.Close())
	}
	return ws, nil
}

// Capabilities opens the parts of a workspace, for programs that add to them before
// [workspace.New]. opts may be nil; its Workspace is not used.
func Capabilities(opts *Options) (workspace.Capabilities, error) {
	if opts == nil {
		opts = &Options{}
	}
	o := opts.Engines
	if o.Shared == nil {
		o.Shared = memfs.New(&o.Files)
	}
	ci, err := inmemory.NewStateful(&o)
	if err != nil {
		return workspace.Capabilities{}, err
	}
	caps := workspace.Capabilities{Code: ci, Declared: opts.Declared}
	if d := opts.Declared; d.Files || d.Code == nil && !d.Shell {
		fo := opts.Files
		fo.Dir = ci.Describe().Workdir
		caps.Files = files.New(o.Shared, &fo)
	}
	return caps, nil
}
