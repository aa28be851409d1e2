package pack

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Describe fills in m.Files, with the size and the sum of each name in dir, and writes
// the manifest to it.
func Describe(dir string, m *Manifest, names ...string) error {
	m.Files = nil
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		m.Files = append(m.Files, File{name, int64(len(b)), fmt.Sprintf("%x", sha256.Sum256(b))})
	}
	if err := m.check(); err != nil {
		return err
	}
	return writeManifest(dir, m)
}

func writeManifest(dir string, m *Manifest) error {
	b, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestName), append(b, '\n'), 0o600)
}

// Archive writes a pack as an archive. The same files make the same bytes.
func Archive(w io.Writer, dir fs.FS) error {
	m, err := readManifest(dir.Open)
	if err != nil {
		return err
	}
	zip, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(zip)
	names := []string{manifestName}
	for _, f := range m.Files {
		names = append(names, f.Name)
	}
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: 0o644}); err != nil {
			return err
		}
		if _, err := t.Write(b); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return zip.Close()
}
