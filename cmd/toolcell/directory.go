package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/jupyter"
	"github.com/toolcell/toolcell/workspace/local"
	"github.com/toolcell/toolcell/workspace/memory"
)

// directoryFlags give a server a directory, in which its code, files and commands
// are.
type directoryFlags struct {
	dir        string
	files      bool
	shell      bool
	background bool
	git        bool
	terminals  bool
}

func (f *directoryFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.dir, "dir", "", "the `directory` that all programs start in, share and may change; with --url, one of the kernels' host")
	fs.BoolVar(&f.files, "files", false, "also offer to read, write and search the files of --dir, of a Jupyter server, or of the embedded engine's memory")
	fs.BoolVar(&f.shell, "shell", false, "also offer to run commands in --dir or on a Jupyter server")
	fs.BoolVar(&f.git, "git", false, "also offer to work with git repositories in --dir")
	fs.BoolVar(&f.background, "background", false, "also offer to run commands in the background")
	fs.BoolVar(&f.terminals, "terminals", false, "also offer terminals, for editors, REPLs and password prompts")
}

// check refuses flags that exclude each other, and chooses the provider for the others.
func (f *directoryFlags) check(p *providerFlags, url bool) error {
	if (f.background || f.terminals) && !f.shell {
		return errors.New("--background and --terminals go with --shell")
	}
	if f.git && f.dir == "" {
		return errors.New("git, of --git or the template, works in a directory: add --dir DIR")
	}
	if p.startFiles != "" && (f.dir == "" || !f.files) {
		return errors.New("the template's files are put into a directory: add --dir DIR and --files")
	}
	remote := p.provider == "jupyter" || p.provider == "" && url
	switch {
	case f.dir == "" && !f.files && !f.shell:
		return nil
	case remote:
		return nil
	case f.dir == "" && !f.shell && (p.provider == "" || p.provider == "inmemory"):
		return nil
	case f.dir == "":
		return errors.New("--files and --shell go with --dir, or with --url; the embedded engines have files, but no shell")
	case p.provider != "" && p.provider != "subprocess":
		return fmt.Errorf("--dir goes with --provider subprocess or jupyter, not %s", p.provider)
	}
	p.provider = "subprocess"
	path, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	p.shared = path
	return isDirectory("--dir", path)
}

// isDirectory checks the path of a flag. Errors of providers name no paths.
func isDirectory(flag, path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: codeinterp.ErrNotDir}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// open opens the provider, with the files and the shell that the flags ask for.
func (f *directoryFlags) open(ctx context.Context, p *providerFlags, stateful bool) (caps workspace.Capabilities, err error) {
	// With Code, only what is named is opened.
	declared := workspace.Declaration{Code: &workspace.CodeDeclaration{}, Files: f.files, Shell: f.shell}
	switch {
	case p.provider == "inmemory" && f.files:
		var o *inmemory.Options
		if o, err = p.inmemoryOptions(); err == nil {
			caps, err = memory.Capabilities(&memory.Options{Engines: *o, Declared: declared})
		}
	case p.provider == "subprocess" && (f.files || f.shell || f.git):
		var opts *subprocess.Options
		if opts, err = p.subprocessOptions(ctx, p.progress); err == nil {
			o := &local.Options{Subprocess: *opts, Declared: declared}
			if f.git {
				o.Git = &git.Options{}
			}
			caps, err = local.Capabilities(p.shared, o)
		}
		if err == nil && p.settings != nil && caps.Files != nil {
			err = local.Seed(ctx, caps.Files, p.settings)
		}
	case p.provider == "jupyter" && (f.dir != "" || f.files || f.shell):
		caps, err = f.openRemote(ctx, p, declared)
	default:
		caps.Code, err = p.open(ctx)
	}
	if err == nil && !stateful {
		caps.Code = codeinterp.Stateless(caps.Code)
	}
	return caps, err
}

func (f *directoryFlags) openRemote(ctx context.Context, p *providerFlags, declared workspace.Declaration) (caps workspace.Capabilities, err error) {
	opts, done, err := p.reach(ctx, p.language)
	if err != nil {
		return caps, err
	}
	defer done()
	opts.Dir = f.dir
	caps, err = jupyter.Capabilities(ctx, &jupyter.Options{Server: *opts, Declared: declared})
	if err == nil && (f.files && caps.Files == nil || f.shell && caps.Shell == nil) {
		err = errors.Join(fmt.Errorf("%w: --files and --shell need a Python kernel, which this server does not have", codeinterp.ErrUnavailable), caps.Code.Close())
	}
	return caps, err
}
