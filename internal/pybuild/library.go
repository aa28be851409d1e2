package main

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

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
	var sources bytes.Buffer
	w := zip.NewWriter(&sources)
	if err := b.addSources(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(b.out, wasmName))
	if err != nil {
		return err
	}
	e, err := python.New(ctx, &python.Options{Limits: engine.Limits{Memory: 1 << 30},
		Pack: fstest.MapFS{"python.wasm": {Data: program}, "stdlib.zip": {Data: sources.Bytes()}}})
	if err != nil {
		return err
	}
	files := memfs.New(&memfs.Options{MaxBytes: 256 << 20})
	ci, err := inmemory.New(&inmemory.Options{Engines: []engine.Engine{e}, MaxMemory: 2 << 30, Shared: files})
	if err != nil {
		return err
	}
	defer ci.Close()
	res, err := ci.RunCode(ctx, "python", compileLibrary, &codeinterp.RunOptions{})
	if err != nil {
		return err
	}
	if res.Status != codeinterp.StatusOK {
		return fmt.Errorf("%s: %v %s", res.Status, res.Error, res.Stderr())
	}
	archive, err := files.ReadFile("stdlib.zip")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.out, libraryName), archive, 0o644)
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
	for _, from := range []struct {
		open func() (fs.FS, error)
		only string
	}{
		{func() (fs.FS, error) { return os.DirFS(filepath.Join(b.python, "Lib")), nil }, "."},
		{func() (fs.FS, error) { return zip.OpenReader(b.tzdata) }, "tzdata"},
	} {
		fsys, err := from.open()
		if err != nil {
			return err
		}
		err = fs.WalkDir(fsys, from.only, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(fsys, name)
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
