package pybuild

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

const (
	// Name is that of the pack.
	Name = "python-small"

	revision = "2" // of packs of the same Python

	wasmName, libraryName, licenseName = "python.wasm", "stdlib.zip", "LICENSE"
)

// writeManifest describes the pack, and adds CPython's license.
func (b *build) writeManifest(context.Context) error {
	license, err := os.ReadFile(filepath.Join(b.python, licenseName))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.out, licenseName), license, 0o644)
	}
	if err != nil {
		return err
	}
	m := &pack.Manifest{Name: Name, Version: b.version(), Python: b.recipe.Python, Sources: b.recipe.Sources}
	return pack.Describe(b.out, m, wasmName, libraryName, licenseName)
}

// writeArchive makes the file that can be installed, beside the pack.
func (b *build) writeArchive(context.Context) error {
	var buf bytes.Buffer
	if err := pack.Archive(&buf, os.DirFS(b.out)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(b.out), Name+"-"+b.version()+".tar.gz"), buf.Bytes(), 0o644)
}

// version is the pack's.
func (b *build) version() string { return b.recipe.Python + "-" + revision }
