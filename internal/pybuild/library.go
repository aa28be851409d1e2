package pybuild

import (
	"archive/zip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

//go:embed recipe/library.py
var compileLibrary string

// leftOut are parts of the standard library that cannot work in the pack.
var leftOut = strings.Fields(`test idlelib tkinter ensurepip lib2to3 turtledemo turtle.py pydoc_data venv curses dbm
	ctypes antigravity.py this.py site-packages _pyrepl __pycache__ __phello__ __hello__.py msilib multiprocessing`)

// makeLibrary lets the new interpreter compile its own library.
func (b *build) makeLibrary(ctx context.Context) error {
	if err := b.writeSources(); err != nil {
		return err
	}
	archive, err := b.compileLibrary(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.out, libraryName), archive, 0o644)
}

// compileLibrary runs the interpreter with its sources as library.
func (b *build) compileLibrary(ctx context.Context) (_ []byte, err error) {
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
	res, err := ci.RunCode(ctx, "python", compileLibrary, &codeinterp.RunOptions{})
	if err != nil {
		return nil, err
	}
	if res.Status != codeinterp.StatusOK {
		return nil, fmt.Errorf("%s: %v %s", res.Status, res.Error, res.Stderr())
	}
	return files.ReadFile(libraryName)
}

// writeSources writes the library as it is before it is compiled. A manifest of an earlier
// build would be another's.
func (b *build) writeSources() error {
	if err := os.RemoveAll(filepath.Join(b.out, "manifest.json")); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(b.out, libraryName))
	if err != nil {
		return err
	}
	w := zip.NewWriter(f)
	return errors.Join(b.addSources(w), w.Close(), f.Close())
}

// addSources adds the sources of the library, and the data of time zones.
func (b *build) addSources(w *zip.Writer) error {
	add := func(name string, data []byte) error {
		if slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(leftOut, part) }) {
			return nil
		}
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	}
	zones, err := zip.OpenReader(b.tzdata)
	if err != nil {
		return err
	}
	defer zones.Close()
	for only, from := range map[string]fs.FS{".": os.DirFS(filepath.Join(b.python, "Lib")), "tzdata": zones} {
		err := fs.WalkDir(from, only, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(from, name)
			if err != nil {
				return err
			}
			return add(name, data)
		})
		if err != nil {
			return err
		}
	}
	return add("_sysconfigdata__wasi_wasm32-wasi.py", []byte("build_time_vars = {}\n"))
}
