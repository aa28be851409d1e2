// Package local makes a workspace of the interpreters of this machine, files and
// a shell, which share a directory.
//
//	ws, err := local.New("demo", "project", nil)
//	...
//	defer ws.Close()
//	res, err := ws.Code().RunCode(ctx, "python", "open('a.txt', 'w').write('hello')", nil)
//	page, err := ws.Files().Read(ctx, "a.txt", files.Range{})
//	res, err = ws.Shell().Run(ctx, "wc -c a.txt", nil)
//
// Code, commands and the file tools start in that directory and see it at the host's path. Where the host is root, they work there as the directory's owner, or, where that is root, under a uid that the directory's access list lets in: programs can remove files of root's and not write to them, and a directory that is closed to other users, as os.MkdirTemp makes them, is refused.
//
// # Security
//
// The walls are those of package subprocess, around each run, context and
// command. Within the directory they share everything, and can disturb one
// another.
package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/shell/screen"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/template"
)

// Options tunes a workspace. The zero value is ready to use.
type Options struct {
	// Template names what the workspace starts with; see package template. What is set
	// in the other options wins. Packages that are missing are installed, which can
	// take minutes.
	Template string

	// Subprocess tunes the interpreter. Its Dir is not used.
	Subprocess subprocess.Options

	// Files tunes the files. Its Dir is not used.
	Files files.Options

	// Shell tunes the shell.
	Shell shell.Options

	// Git, if set, adds tools for repositories. Its Credential is for where the egress
	// policy has none.
	Git *git.Options

	// Declared narrows the workspace to what it names, if it names code, files or
	// a shell; see [workspace.Declaration].
	Declared workspace.Declaration

	// Workspace tunes the tools and the events.
	Workspace workspace.Options

	template *template.Template // nil: none
}

// New opens a workspace over a directory of the host, which exists. opts may be
// nil. It fails as subprocess.NewStateful and workspace.New do.
func New(name, dir string, opts *Options) (*workspace.Workspace, error) {
	ws, _, err := open(dir, opts, func(caps workspace.Capabilities, o *workspace.Options) (*workspace.Workspace, []workspace.Part, error) {
		ws, err := workspace.New(name, caps, o)
		return ws, nil, err
	})
	return ws, err
}

// Open opens a workspace again over its directory; see [workspace.Open]. Its contexts are kept
// where Options.Subprocess.Keep was and is set. opts may be nil.
func Open(ctx context.Context, ref workspace.Ref, opts *Options) (*workspace.Workspace, []workspace.Part, error) {
	return open(ref.Dir, opts, func(caps workspace.Capabilities, o *workspace.Options) (*workspace.Workspace, []workspace.Part, error) {
		return workspace.Open(ctx, ref, caps, o)
	})
}

// open makes a workspace of the parts by make.
func open(dir string, opts *Options, make func(workspace.Capabilities, *workspace.Options) (*workspace.Workspace, []workspace.Part, error)) (*workspace.Workspace, []workspace.Part, error) {
	opts, err := opts.templated(dir)
	if err != nil {
		return nil, nil, err
	}
	caps, err := Capabilities(dir, opts)
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
// [workspace.New]. Closing its Code closes the files too. opts may be nil; its
// Workspace is not used.
func Capabilities(dir string, opts *Options) (workspace.Capabilities, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return workspace.Capabilities{}, fmt.Errorf("local: %w: %w", codeinterp.ErrInvalid, err)
	}
	if opts, err = opts.templated(path); err != nil {
		return workspace.Capabilities{}, err
	}
	so := opts.Subprocess
	so.Dir = path
	ci, err := newInterpreter(&so)
	if err != nil {
		return workspace.Capabilities{}, err
	}
	caps, err := capabilities(ci, opts)
	if err != nil {
		return workspace.Capabilities{}, errors.Join(err, ci.Close())
	}
	return caps, nil
}

// An interpreter also owns the directory that was opened for the files.
type interpreter struct {
	*subprocess.Stateful
	dir subprocess.Dir
}

func newInterpreter(o *subprocess.Options) (*interpreter, error) {
	ci, err := subprocess.NewStateful(o)
	if err != nil {
		return nil, err
	}
	dir, err := ci.OpenDir()
	if err != nil {
		return nil, errors.Join(err, ci.Close())
	}
	return &interpreter{ci, dir}, nil
}

// Close closes both.
func (i *interpreter) Close() error { return errors.Join(i.Stateful.Close(), i.dir.Close()) }

// capabilities returns what is declared, all where nothing is.
func capabilities(ci *interpreter, opts *Options) (workspace.Capabilities, error) {
	d := opts.Declared
	all := d.Code == nil && !d.Files && !d.Shell
	caps := workspace.Capabilities{Code: ci, Declared: d}
	caps.Dir = ci.Describe().Workdir
	if t := opts.template; t != nil && len(t.Files) > 0 {
		if err := Seed(context.Background(), files.New(ci.dir, nil), t); err != nil {
			return caps, err
		}
	}
	if all || d.Files {
		fo := opts.Files
		// Where programs see the directory, which is what the paths of their output
		// say.
		fo.Dir = caps.Dir
		caps.Files = files.New(ci.dir, &fo)
	}
	if all || d.Shell {
		so := opts.Shell
		if so.Emulator == nil {
			so.Emulator = screen.New
		}
		s, err := shell.New(ci, &so)
		if err != nil {
			return caps, err
		}
		caps.Shell = s
	}
	if opts.Git != nil {
		if e := opts.Subprocess.Egress; opts.Git.Credential != nil && e != nil && e.Secrets != nil {
			return caps, fmt.Errorf("local: %w: a credential of Git beside secrets of the egress policy, which programs cannot read; add it to these", codeinterp.ErrInvalid)
		}
		g, err := git.New(ci, opts.Git)
		if err != nil {
			return caps, err
		}
		caps.Git = g
	}
	return caps, nil
}
