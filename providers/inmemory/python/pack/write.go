package pack

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
		f := File{Name: name}
		r, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		sum := sha256.New()
		f.Size, err = io.Copy(sum, r)
		_ = r.Close()
		if err != nil {
			return err
		}
		f.SHA256 = hex.EncodeToString(sum.Sum(nil))
		m.Files = append(m.Files, f)
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
	m, err := readManifest(dir)
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
