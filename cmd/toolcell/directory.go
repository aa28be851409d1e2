package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/workspace"
)

// directoryFlags give a server a directory, in which its code, files and commands
// are.
type directoryFlags struct {
	dir        string
	files      bool
	shell      bool
	background bool
}

func (f *directoryFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.dir, "dir", "", "subprocess: the `directory` that all programs start in, share and may change; implies --provider subprocess")
	fs.BoolVar(&f.files, "files", false, "also offer to read, write and search the files of --dir")
	fs.BoolVar(&f.shell, "shell", false, "also offer to run commands in --dir")
	fs.BoolVar(&f.background, "background", false, "also offer to run commands in the background")
}

// check finds the flags that make no sense together, and the provider that they
// need.
func (f *directoryFlags) check(p *providerFlags) error {
	switch {
	case f.dir == "" && (f.files || f.shell):
		return errors.New("--files and --shell go with --dir")
	case f.background && !f.shell:
		return errors.New("--background goes with --shell")
	case f.dir == "":
		return nil
	case p.provider != "" && p.provider != "subprocess":
		return fmt.Errorf("--dir goes with --provider subprocess, not %s", p.provider)
	}
	p.provider = "subprocess"
	path, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	p.shared = path
	return isDirectory("--dir", path)
}

// isDirectory says of a flag's path what is wrong with it, by name: errors of
// providers have no paths in them.
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

// add adds to caps what the flags ask of ci. What it opens is to be closed after
// the workspace.
func (f *directoryFlags) add(caps *workspace.Capabilities, ci codeinterp.CodeInterpreter) (io.Closer, error) {
	var opened io.Closer = io.NopCloser(nil)
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
