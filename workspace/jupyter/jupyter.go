// Package jupyter makes a workspace of a Jupyter server: the languages of its
// kernels, files and a shell, in one directory of the kernels' host.
//
//	ws, err := jupyter.New(ctx, "demo", &jupyter.Options{Server: server})
//	...
//	defer ws.Close()
//	res, err := ws.Code().RunCode(ctx, "python", "open('a.txt', 'w').write('hello')", nil)
//	page, err := ws.Files().Read(ctx, "a.txt", files.Range{})
//	res, err = ws.Shell().Run(ctx, "wc -c a.txt", nil)
//
// Code, commands and the file tools start in the same directory: Options.Server.Dir, or
// the one where the server starts its kernels. Files and commands use Python kernels of
// the workspace; without a Python kernelspec there are no files and no shell.
//
// # Limits
//
// Kernels that cannot be moved run in no other directory than their server's.
// If each kernel has its own host, they share what those hosts share.
//
// # Security
//
// Code, commands and files reach what the server's user reaches; see package
// providers/jupyter. Links that lead out of the directory are not followed by the
// file tools.
package jupyter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/providers/jupyter"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/shell/screen"
	"github.com/toolcell/toolcell/workspace"
)

// Options tunes a workspace. Server.URL is required.
type Options struct {
	// Server tells how to reach the server. An empty Dir means ".", where the
	// server starts its kernels.
	Server jupyter.Options

	// Files tunes the files. Its Dir is not used.
	Files files.Options

	// Shell tunes the shell.
	Shell shell.Options

	// Declared narrows the workspace to what it names, if it names code, files or
	// a shell; see [workspace.Declaration].
	Declared workspace.Declaration

	// Workspace tunes the tools and the events.
	Workspace workspace.Options
}

// New opens a workspace on a server. ctx bounds New alone. It fails as
// jupyter.NewStateful of package providers/jupyter and workspace.New do, and with
// codeinterp.ErrInvalid where the directory cannot be entered.
func New(ctx context.Context, name string, opts *Options) (*workspace.Workspace, error) {
	ws, _, err := open(ctx, opts, func(caps workspace.Capabilities, o *workspace.Options) (*workspace.Workspace, []workspace.Part, error) {
		ws, err := workspace.New(name, caps, o)
		return ws, nil, err
	})
	return ws, err
}

// Open opens a workspace again on its server; see [workspace.Open]. Its contexts are kept where
// the server has not ended their kernels.
func Open(ctx context.Context, ref workspace.Ref, opts *Options) (*workspace.Workspace, []workspace.Part, error) {
	return open(ctx, opts, func(caps workspace.Capabilities, o *workspace.Options) (*workspace.Workspace, []workspace.Part, error) {
		return workspace.Open(ctx, ref, caps, o)
	})
}

// open makes a workspace of the parts by make.
func open(ctx context.Context, opts *Options, make func(workspace.Capabilities, *workspace.Options) (*workspace.Workspace, []workspace.Part, error)) (*workspace.Workspace, []workspace.Part, error) {
	if opts == nil {
		opts = &Options{}
	}
	caps, err := Capabilities(ctx, opts)
	if err != nil {
		return nil, nil, err
	}
	ws, parts, err := make(caps, &opts.Workspace)
	if err != nil {
		return nil, nil, errors.Join(err, caps.Code.Close())
	}
	return ws, parts, nil
}

// Capabilities opens the parts of a workspace, for programs that add to them before
// [workspace.New]. Closing its Code closes the files too. opts.Workspace is not used.
func Capabilities(ctx context.Context, opts *Options) (workspace.Capabilities, error) {
	so := opts.Server
	so.Dir = cmp.Or(so.Dir, ".")
	ci, err := jupyter.NewStateful(ctx, &so)
	if err != nil {
		return workspace.Capabilities{}, err
	}
	i := &interpreter{Stateful: ci, dir: ci.Describe().Workdir}
	caps, err := i.capabilities(ctx, &so, opts)
	if err != nil {
		return workspace.Capabilities{}, errors.Join(err, i.Close())
	}
	return caps, nil
}

// An interpreter also owns the kernel that serves the files. That is another
// client's, so that its context is not among those of the programs.
type interpreter struct {
	*jupyter.Stateful
	keeper *jupyter.Stateful // nil without files
	dir    string            // empty if it is not known
}

// Describe is that of the provider, with the directory.
func (i *interpreter) Describe() codeinterp.Info {
	info := i.Stateful.Describe()
	info.Workdir = i.dir
	return info
}

// Close closes both.
func (i *interpreter) Close() error {
	err := i.Stateful.Close()
	if i.keeper != nil {
		err = errors.Join(err, i.keeper.Close())
	}
	return err
}

// capabilities returns what is declared, all if nothing is.
func (i *interpreter) capabilities(ctx context.Context, so *jupyter.Options, opts *Options) (workspace.Capabilities, error) {
	d := opts.Declared
	caps := workspace.Capabilities{Code: i, Declared: d}
	all := d.Code == nil && !d.Files && !d.Shell
	python := i.Stateful.Describe().HasFiles(keeperLanguage)
	if python && (all || d.Files) {
		dir, err := i.keep(ctx, so)
		if err != nil {
			return caps, err
		}
		fo := opts.Files
		fo.Dir, caps.Dir = i.dir, i.dir
		caps.Files = files.New(dir, &fo)
	}
	if _, ok := codeinterp.Commands(i); ok && (all || d.Shell) {
		so := opts.Shell
		if so.Emulator == nil {
			so.Emulator = screen.New
		}
		s, err := shell.New(i, &so)
		if err != nil {
			return caps, err
		}
		caps.Shell = s
	}
	return caps, nil
}

// keeperLanguage is the language whose kernels serve files.
const keeperLanguage = "python"

// keep starts the kernel that serves the files, and learns what the directory is
// called.
func (i *interpreter) keep(ctx context.Context, so *jupyter.Options) (codeinterp.FS, error) {
	o := *so
	// One kernel is all that is needed, and it has to last as long as the files.
	o.Warm, o.ContextIdle = nil, 0
	var err error
	if i.keeper, err = jupyter.NewStateful(ctx, &o); err != nil {
		return nil, err
	}
	id, err := i.keeper.CreateContext(ctx, keeperLanguage, nil)
	if err != nil {
		return nil, err
	}
	res, err := i.keeper.RunInContext(ctx, id, "import json, os\nprint(json.dumps(os.getcwd()))", nil)
	if err != nil {
		return nil, err
	}
	out := strings.TrimSpace(res.Stdout())
	if json.Unmarshal([]byte(out), &i.dir) != nil || !path.IsAbs(i.dir) {
		return nil, fmt.Errorf("workspace: %w: the kernel does not say where it is: %.200q", codeinterp.ErrUnavailable, out)
	}
	of, ok := codeinterp.Files(i.keeper)
	if !ok {
		return nil, fmt.Errorf("workspace: %w: no files", codeinterp.ErrUnavailable)
	}
	return of.OpenFiles(ctx, id)
}
