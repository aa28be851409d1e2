// Package pack installs and finds packs for the embedded Python: directories with an
// interpreter compiled to WebAssembly, its library, and a manifest.
//
//	p, err := pack.Install(ctx, "toolcell-python-3.13.tar.gz", nil)
//	py, err := python.New(ctx, &python.Options{Pack: os.DirFS(p.Dir), Cache: p.Cache()})
//
// A pack is an archive (tar, gzip) or a directory with the files that its manifest.json
// lists, each with its size and SHA-256. Nothing is fetched or installed but by Install.
package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors that callers branch on.
var (
	// ErrPack: a pack is damaged, or not one.
	ErrPack = errors.New("not a valid pack")

	// ErrNotInstalled: there is no such pack.
	ErrNotInstalled = errors.New("no such pack is installed")

	// ErrUnpinned: a pack is not the one whose SHA-256 was asked for.
	ErrUnpinned = errors.New("the pack is not the expected one")
)

const (
	manifestName = "manifest.json"
	maxManifest  = 1 << 20
	maxFiles     = 1000
	maxBytes     = 2 << 30
	cacheName    = "native"
)

// A Manifest says what a pack is made of.
type Manifest struct {
	Name    string   `json:"name"`    // such as "python-small"
	Version string   `json:"version"` // of the pack, such as "3.13.15-1"
	Python  string   `json:"python"`  // of the language, such as "3.13.15"
	Files   []File   `json:"files"`
	Sources []Source `json:"sources,omitempty"`
}

// A File is one of a pack.
type File struct {
	Name   string `json:"name"` // without directories
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// A Source is what a pack was made from.
type Source struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256,omitempty"`
	License string `json:"license"` // an SPDX expression
}

func (m *Manifest) check() error {
	if !plainName(m.Name) || !plainName(m.Version) || len(m.Files) == 0 || len(m.Files) > maxFiles {
		return fmt.Errorf("%w: its manifest has no name, version or files", ErrPack)
	}
	var total int64
	for _, f := range m.Files {
		if !plainName(f.Name) || f.Name == manifestName || f.Name == cacheName || f.Size < 0 || f.Size > maxBytes || len(f.SHA256) != 2*sha256.Size {
			return fmt.Errorf("%w: its manifest has a file %.100q", ErrPack, f.Name)
		}
		if total += f.Size; total > maxBytes {
			return fmt.Errorf("%w: it has more than %d bytes", ErrPack, maxBytes)
		}
	}
	return nil
}

// plainName reports whether s can be the name of a file anywhere.
func plainName(s string) bool {
	return s != "" && len(s) <= 100 && s[0] != '.' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == ""
}

// An Installed is a pack in a directory of its own.
type Installed struct {
	Manifest
	Dir string
}

// ID is the pack's name and version, as Remove takes it.
func (p *Installed) ID() string { return p.Name + "-" + p.Version }

// Cache is the directory for the pack's native code, which can be deleted at any time.
func (p *Installed) Cache() string { return filepath.Join(p.Dir, cacheName) }

// Root returns the directory that packs are installed in:
// TOOLCELL_ENGINES, or the user's cache directory.
func Root() (string, error) {
	if dir := os.Getenv("TOOLCELL_ENGINES"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "toolcell", "engines"), nil
}

// List returns the packs that are installed, by name and with the newest version first.
func List() ([]Installed, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Installed
	for _, e := range entries {
		if m, err := readManifest(os.DirFS(filepath.Join(root, e.Name())).Open); err == nil {
			list = append(list, Installed{*m, filepath.Join(root, e.Name())})
		}
	}
	slices.SortFunc(list, func(a, b Installed) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), compareVersions(b.Version, a.Version))
	})
	return list, err
}

// compareVersions compares numbers as such.
func compareVersions(a, b string) int {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == '-' || r == '_' })
	}
	return slices.CompareFunc(split(a), split(b), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	})
}

// Find returns the newest pack of a name, or that of an ID.
func Find(name string) (*Installed, error) {
	list, err := List()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(p Installed) bool { return p.Name == name || p.ID() == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotInstalled, name)
	}
	return &list[i], nil
}

// Remove removes a pack as Find finds it.
func Remove(name string) error {
	p, err := Find(name)
	if err != nil {
		return err
	}
	return os.RemoveAll(p.Dir)
}

// Verify compares the files of a pack with its manifest.
func Verify(ctx context.Context, dir fs.FS) error {
	_, err := read(ctx, dir.Open, func(string) (io.WriteCloser, error) { return writer(func(int) {}), nil })
	return err
}

// read reads a pack, the manifest first, and copies the files that are as that says.
func read[F io.ReadCloser](ctx context.Context, open func(name string) (F, error), create func(name string) (io.WriteCloser, error)) (*Manifest, error) {
	m, err := readManifest(open)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		r, err := open(f.Name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPack, err)
		}
		w, err := create(f.Name)
		if err == nil {
			err = errors.Join(f.copy(w, r), w.Close())
		}
		_ = r.Close()
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

func readManifest[F io.ReadCloser](open func(name string) (F, error)) (*Manifest, error) {
	r, err := open(manifestName)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPack, err)
	}
	defer r.Close()
	var m Manifest
	b, err := io.ReadAll(io.LimitReader(r, maxManifest))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: its manifest: %w", ErrPack, err)
	}
	return &m, m.check()
}

// copy copies a file of a pack and compares it with what the manifest says.
func (f *File) copy(w io.Writer, r io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, f.Size+1))
	if err == nil && (n != f.Size || fmt.Sprintf("%x", sum.Sum(nil)) != f.SHA256) {
		err = fmt.Errorf("%w: %s differs from its manifest", ErrPack, f.Name)
	}
	return err
}
