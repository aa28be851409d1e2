package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/jupyter"
	"github.com/toolcell/toolcell/workspace/memory"
)

// directoryFlags give a server a directory, in which its code, files and commands
// are.
type directoryFlags struct {
	dir        string
	files      bool
	shell      bool
	background bool

	// opened is what there is of a Jupyter server's directory, or of a file system
	// in memory, if one of them is meant.
	opened *workspace.Capabilities
}

func (f *directoryFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.dir, "dir", "", "the `directory` that all programs start in, share and may change; with --url, one of the kernels' host")
	fs.BoolVar(&f.files, "files", false, "also offer to read, write and search the files of --dir, of a Jupyter server, or of the embedded engine's memory")
	fs.BoolVar(&f.shell, "shell", false, "also offer to run commands in --dir or on a Jupyter server")
	fs.BoolVar(&f.background, "background", false, "also offer to run commands in the background")
}

// check refuses flags that exclude each other, and chooses the provider for the others.
func (f *directoryFlags) check(p *providerFlags, url bool) error {
	if f.background && !f.shell {
		return errors.New("--background goes with --shell")
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

// openIn opens the provider, with the directory of a Jupyter server or the files in
// memory if the flags ask for them.
func (f *directoryFlags) openIn(ctx context.Context, p *providerFlags, stateful bool) (codeinterp.CodeInterpreter, error) {
	switch {
	case p.provider == "inmemory" && f.files:
		return f.openMemory(stateful)
	case p.provider == "jupyter" && (f.dir != "" || f.files || f.shell):
		return f.openRemote(ctx, p, stateful)
	}
	return p.open(ctx, stateful)
}

func (f *directoryFlags) openMemory(stateful bool) (codeinterp.CodeInterpreter, error) {
	caps, err := memory.Capabilities(&memory.Options{Engines: *inmemoryOptions()})
	if err != nil {
		return nil, err
	}
	return f.openedAs(&caps, stateful), nil
}

func (f *directoryFlags) openRemote(ctx context.Context, p *providerFlags, stateful bool) (codeinterp.CodeInterpreter, error) {
	so, err := p.options(p.language)
	if err != nil {
		return nil, err
	}
	defer after(patience, p.progress, "waiting for the Jupyter server at %s to answer", hostOf(p.url))()
	if err := p.reach(ctx, so); err != nil {
		return nil, err
	}
	so.Dir = f.dir
	// With Code, only what is named is opened.
	declared := workspace.Declaration{Code: &workspace.CodeDeclaration{}, Files: f.files, Shell: f.shell}
	caps, err := jupyter.Capabilities(ctx, &jupyter.Options{Server: *so, Declared: declared})
	if err != nil {
		return nil, err
	}
	if f.files && caps.Files == nil || f.shell && caps.Shell == nil {
		return nil, errors.Join(fmt.Errorf("%w: --files and --shell need a Python kernel, which this server does not have", codeinterp.ErrUnavailable), caps.Code.Close())
	}
	return f.openedAs(&caps, stateful), nil
}

// openedAs stores caps for add, and returns its code.
func (f *directoryFlags) openedAs(caps *workspace.Capabilities, stateful bool) codeinterp.CodeInterpreter {
	f.opened = caps
	if !stateful {
		return codeinterp.Stateless(caps.Code)
	}
	return caps.Code
}

// add adds files and commands of ci to caps. The caller closes the closer after the
// workspace.
func (f *directoryFlags) add(caps *workspace.Capabilities, ci codeinterp.CodeInterpreter) (io.Closer, error) {
	var opened io.Closer = io.NopCloser(nil)
	if f.opened != nil {
		caps.Files, caps.Shell = f.opened.Files, f.opened.Shell
		return opened, nil
	}
	if f.files {
		of, ok := ci.(interface {
			OpenDir() (subprocess.Dir, error)
		})
		if !ok {
			return nil, fmt.Errorf("%w: this provider has no directory", codeinterp.ErrInvalid)
		}
		dir, err := of.OpenDir()
		if err != nil {
			return nil, err
		}
		opened = dir
		caps.Files = files.New(dir, &files.Options{Dir: codeinterp.Describe(ci).Workdir})
	}
	if f.shell {
		s, err := shell.New(ci, nil)
		if err != nil {
			return nil, errors.Join(err, opened.Close())
		}
		caps.Shell = s
	}
	return opened, nil
}
