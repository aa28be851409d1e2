package pack_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

// made returns a directory with a pack, and its archive.
func made(t *testing.T, version string) (dir string, archive []byte) {
	dir = t.TempDir()
	for name, text := range map[string]string{"python.wasm": "\x00asm" + version, "stdlib.zip": "PK"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &pack.Manifest{Name: "python-small", Version: version, Python: version}
	if err := pack.Describe(dir, m, "python.wasm", "stdlib.zip"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := pack.Archive(&b, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return dir, b.Bytes()
}

// A pack is installed from a file, a directory or a URL, found, verified and removed.
func TestInstall(t *testing.T) {
	root := filepath.Join(t.TempDir(), "engines")
	t.Setenv("TOOLCELL_ENGINES", root)
	dir, archive := made(t, "3.13.9-1")
	_, newer := made(t, "3.13.15-1")
	file := filepath.Join(t.TempDir(), "p.tar.gz")
	if err := os.WriteFile(file, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(archive) }))
	defer srv.Close()
	sum := sha256.Sum256(archive)
	var done int64
	for _, from := range []string{dir, file, srv.URL + "/p.tar.gz"} {
		o := &pack.Options{}
		if from == srv.URL+"/p.tar.gz" {
			o.SHA256, o.Progress = hex.EncodeToString(sum[:]), func(d, _ int64) { done = d }
		}
		p, err := pack.Install(t.Context(), from, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := pack.Verify(t.Context(), os.DirFS(p.Dir)); err != nil {
			t.Error(from, err)
		}
	}
	if done != int64(len(archive)) {
		t.Errorf("progress %d of %d", done, len(archive))
	}
	list, err := pack.List()
	if err != nil || len(list) != 2 || list[0].ID() != "python-small-3.13.15-1" {
		t.Errorf("%+v, %v", list, err)
	}
	p, err := pack.Find("python-small")
	if err != nil || p.Python != "3.13.15-1" {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := pack.Remove(p.ID()); err != nil {
		t.Error(err)
	}
	if _, err := pack.Find("python-science"); !errors.Is(err, pack.ErrNotInstalled) {
		t.Error(err)
	}
	if err := pack.Remove("../engines"); !errors.Is(err, pack.ErrNotInstalled) {
		t.Error(err)
	}
}

// What is damaged, or not the expected archive, is not installed.
func TestDamaged(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TOOLCELL_ENGINES", root)
	dir, archive := made(t, "1-1")
	if err := os.WriteFile(filepath.Join(dir, "stdlib.zip"), []byte("XX"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pack.Verify(t.Context(), os.DirFS(dir)); !errors.Is(err, pack.ErrPack) {
		t.Error(err)
	}
	if _, err := pack.Install(t.Context(), dir, &pack.Options{}); !errors.Is(err, pack.ErrPack) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "p")
	for i := 0; i < len(archive); i += 1 + len(archive)/50 {
		b := bytes.Clone(archive)
		b[i] ^= 0x55
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(archive)
		if _, err := pack.Install(t.Context(), file, &pack.Options{SHA256: hex.EncodeToString(sum[:])}); err == nil {
			t.Errorf("byte %d changed, and installed", i)
		}
	}
	if list, _ := pack.List(); len(list) != 0 {
		t.Errorf("installed: %+v", list)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
