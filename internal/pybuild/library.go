package pybuild

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

const (
	// Name is that of the pack.
	Name = "python-small"

	revision = "4" // of packs of the same Python: one with other contents gets another

	wasmName, libraryName, licenseName = "python.wasm", "stdlib.zip", "LICENSE"
)

// describe writes the manifest of the pack.
func (b *build) describe() error {
	m := &pack.Manifest{Name: Name, Version: b.version(), Python: b.recipe.Python, Sources: b.recipe.Sources}
	return pack.Describe(b.out, m, wasmName, libraryName, licenseName)
}

// version is the pack's.
func (b *build) version() string { return b.recipe.Python + "-" + revision }

// writeArchive makes the file that can be installed, beside the pack.
func (b *build) writeArchive(context.Context) error {
	var buf bytes.Buffer
	if err := pack.Archive(&buf, os.DirFS(b.out)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(b.out), Name+"-"+b.version()+".tar.gz"), buf.Bytes(), 0o644)
}

// makeLibrary lets the new interpreter, as a pack with the sources as its library, compile
// that, and adds CPython's license.
func (b *build) makeLibrary(ctx context.Context) error {
	license, err := os.ReadFile(filepath.Join(b.python, licenseName))
	if err = errors.Join(err, os.WriteFile(filepath.Join(b.out, licenseName), license, 0o644), b.collectLibrary(), b.describe()); err != nil {
		return err
	}
	archive, err := b.compileLibrary(ctx)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(b.out, libraryName), archive, 0o644), b.describe())
}

// collectLibrary makes an archive of the library's sources, and of the data of time zones.
func (b *build) collectLibrary() error {
	zones, err := zip.OpenReader(b.tzdata)
	if err != nil {
		return err
	}
	defer zones.Close()
	f, err := os.Create(filepath.Join(b.out, libraryName))
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	variables, err := w.Create("_sysconfigdata__wasi_wasm32-wasi.py")
	if err == nil {
		_, err = variables.Write([]byte("build_time_vars = {}\n"))
	}
	return errors.Join(err, w.AddFS(os.DirFS(filepath.Join(b.python, "Lib"))), w.AddFS(zones), w.Close(), f.Close())
}

// compileLibrary runs the interpreter with its sources as library.
func (b *build) compileLibrary(ctx context.Context) (_ []byte, err error) {
	program, err := recipeFiles.ReadFile("recipe/library.py")
	if err != nil {
		return nil, err
	}
	e, err := python.New(ctx, &python.Options{Limits: engine.Limits{Memory: 1 << 30}, Pack: os.DirFS(b.out)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	files := memfs.New(&memfs.Options{MaxBytes: 256 << 20})
	ci, err := inmemory.New(&inmemory.Options{Engines: []engine.Engine{e}, MaxMemory: 2 << 30, Shared: files})
	if err != nil {
		return nil, err
	}
	defer ci.Close()
	res, err := ci.RunCode(ctx, "python", string(program), nil)
	if err != nil {
		return nil, err
	}
	if res.Status != codeinterp.StatusOK {
		return nil, fmt.Errorf("%s: %v %s", res.Status, res.Error, res.Stderr())
	}
	return files.ReadFile(libraryName)
}
