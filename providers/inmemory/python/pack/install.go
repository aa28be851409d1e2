package pack

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options tunes Install. The zero value is ready to use.
type Options struct {
	// Root is where packs are installed; see Root.
	Root string

	// SHA256 is that of the archive, in hexadecimal; empty means any.
	SHA256 string

	// Client fetches URLs. Nil means one with a time limit of an hour.
	Client *http.Client

	// Progress is called as bytes arrive; total is -1 if it is not known.
	Progress func(done, total int64)
}

// Install installs a pack from an archive or a directory, a path or an http or https URL,
// and replaces an installed one of its name and version. What is damaged, or not the
// archive that Options.SHA256 names, is not installed.
func Install(ctx context.Context, from string, opts *Options) (*Installed, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	root, err := orDefault(o.Root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	m, err := o.unpack(ctx, from, tmp)
	if err != nil {
		return nil, fmt.Errorf("install %s: %w", from, err)
	}
	p := &Installed{*m, ""}
	p.Dir = filepath.Join(root, p.ID())
	if err := os.RemoveAll(p.Dir); err != nil {
		return nil, err
	}
	return p, os.Rename(tmp, p.Dir)
}

// unpack puts a pack's files into dir.
func (o *Options) unpack(ctx context.Context, from, dir string) (*Manifest, error) {
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		body, size, err := o.get(ctx, from)
		if err != nil {
			return nil, err
		}
		defer body.Close()
		return o.archive(ctx, body, size, dir)
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if o.SHA256 != "" {
			return nil, fmt.Errorf("%w: a directory has no SHA-256", ErrUnpinned)
		}
		return o.directory(ctx, os.DirFS(from), dir)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return o.archive(ctx, f, info.Size(), dir)
}

func (o *Options) get(ctx context.Context, url string) (io.ReadCloser, int64, error) {
	client := o.Client
	if client == nil {
		client = &http.Client{Timeout: time.Hour}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, 0, fmt.Errorf("the server answers %s", resp.Status)
	}
	return resp.Body, resp.ContentLength, nil
}

// archive unpacks a tar file, whose first entry is the manifest.
func (o *Options) archive(ctx context.Context, r io.Reader, size int64, dir string) (*Manifest, error) {
	sum := sha256.New()
	done := int64(0)
	in := &reader{ctx: ctx, r: io.TeeReader(io.LimitReader(r, maxBytes), sum), progress: func(n int) {
		if done += int64(n); o.Progress != nil {
			o.Progress(done, size)
		}
	}}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPack, err)
	}
	t := tar.NewReader(zip)
	h, err := t.Next()
	if err != nil || h.Name != manifestName {
		return nil, fmt.Errorf("%w: an archive begins with %s", ErrPack, manifestName)
	}
	m, err := parseManifest(t)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		h, err := t.Next()
		if err != nil || h.Name != f.Name || h.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%w: %s is missing", ErrPack, f.Name)
		}
		if err := create(ctx, filepath.Join(dir, f.Name), t, f); err != nil {
			return nil, err
		}
	}
	return m, errors.Join(o.pinned(in, sum), writeManifest(dir, m))
}

// pinned reads the rest of an archive and compares its sum.
func (o *Options) pinned(in io.Reader, sum hash.Hash) error {
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); o.SHA256 != "" && got != strings.ToLower(o.SHA256) {
		return fmt.Errorf("%w: its SHA-256 is %s", ErrUnpinned, got)
	}
	return nil
}

// directory copies an unpacked pack.
func (o *Options) directory(ctx context.Context, from fs.FS, dir string) (*Manifest, error) {
	m, err := readManifest(from)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		r, err := from.Open(f.Name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPack, err)
		}
		err = create(ctx, filepath.Join(dir, f.Name), r, f)
		_ = r.Close()
		if err != nil {
			return nil, err
		}
	}
	return m, writeManifest(dir, m)
}

func create(ctx context.Context, name string, r io.Reader, f File) error {
	w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyFile(ctx, w, r, f, nil), w.Close())
}
