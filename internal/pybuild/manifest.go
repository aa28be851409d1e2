package pybuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

const (
	// Name is that of the pack.
	Name = "python-small"

	revision = "2" // of packs of the same Python

	wasmName, libraryName, licenseName = "python.wasm", "stdlib.zip", "LICENSE"
)

// writeManifest describes the pack, and adds CPython's license.
func (b *build) writeManifest(ctx context.Context) error {
	version, err := command(ctx, b.work, nil, b.zig, "version")
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(b.python, "LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.out, licenseName), license, 0o644); err != nil {
		return err
	}
	m := &pack.Manifest{Name: Name, Version: b.version(), Python: b.recipe.Python, Sources: []pack.Source{
		{Name: "CPython", Version: b.recipe.Python, License: "PSF-2.0"},
		{Name: "libmpdec, in CPython", License: "BSD-2-Clause"},
		{Name: "expat, in CPython", License: "MIT"},
		{Name: "HACL*, in CPython", License: "MIT"},
		{Name: "zlib", Version: define(b.zlib, "zlib.h", "ZLIB_VERSION"), License: "Zlib"},
		{Name: "SQLite", Version: define(b.sqlite, "sqlite3-binding.h", "SQLITE_VERSION"), License: "blessing"},
		{Name: "dlmalloc", License: "CC0-1.0"},
		{Name: "math of musl, in wasi-libc", License: "MIT"},
		{Name: "wasi-libc, of zig", Version: strings.TrimSpace(string(version)), License: "MIT"},
		{Name: "tzdata", Version: wheelVersion(b.tzdata), License: "Apache-2.0"},
	}}
	for i, file := range map[int]string{0: b.archive, 9: b.tzdata} {
		if file == "" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		m.Sources[i].SHA256 = hex.EncodeToString(sum[:])
	}
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

// define returns the string that a header defines.
func define(dir, header, name string) string {
	data, _ := os.ReadFile(filepath.Join(dir, header)) // which has been compiled
	_, rest, _ := strings.Cut(string(data), "#define "+name+" ")
	value, _, _ := strings.Cut(strings.TrimLeft(rest, " "), "\n")
	return strings.Trim(value, "\" \r")
}

// wheelVersion returns the version in the name of a wheel.
func wheelVersion(file string) string {
	if parts := strings.Split(filepath.Base(file), "-"); len(parts) > 1 {
		return parts[1]
	}
	return ""
}
