package pack

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options tunes Install. The zero value is ready to use.
type Options struct {
	// SHA256 is that of the archive, in hexadecimal; empty means any.
	SHA256 string

	// Progress is called as bytes arrive; total is -1 if it is not known.
	Progress func(done, total int64)
}

// Install installs a pack from an archive or a directory, a path or an http or https URL,
// in Root, and replaces an installed one of its name and version. What is damaged, or not the
// archive that Options.SHA256 names, is not installed.
func Install(ctx context.Context, from string, opts *Options) (*Installed, error) {
	o := cmp.Or(opts, &Options{})
	root, err := Root()
	if err == nil {
		err = os.MkdirAll(root, 0o700)
	}
	if err != nil {
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
	return p, errors.Join(os.RemoveAll(p.Dir), os.Rename(tmp, p.Dir))
}

// unpack puts a pack's files into dir.
func (o *Options) unpack(ctx context.Context, from, dir string) (m *Manifest, err error) {
	create := func(name string) (io.WriteCloser, error) {
		return os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	switch info, failed := os.Stat(from); {
	case failed != nil || !info.IsDir():
		m, err = o.archive(ctx, from, create)
	case o.SHA256 != "":
		return nil, fmt.Errorf("%w: a directory has no SHA-256", ErrUnpinned)
	default:
		m, err = read(ctx, os.DirFS(from).Open, create)
	}
	if err != nil {
		return nil, err
	}
	return m, writeManifest(dir, m)
}

// archive unpacks a tar file, whose first entry is the manifest.
func (o *Options) archive(ctx context.Context, from string, create func(name string) (io.WriteCloser, error)) (*Manifest, error) {
	r, size, err := Open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sum, done := sha256.New(), int64(0)
	in := io.TeeReader(io.LimitReader(r, maxBytes), io.MultiWriter(sum, writer(func(n int) {
		if done += int64(n); o.Progress != nil {
			o.Progress(done, size)
		}
	})))
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPack, err)
	}
	t := tar.NewReader(zip)
	m, err := read(ctx, func(name string) (io.ReadCloser, error) {
		if h, err := t.Next(); err != nil || h.Name != name || h.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%s is missing", name)
		}
		return io.NopCloser(t), nil
	}, create)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // what is behind it counts in the sum
		return nil, err
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); o.SHA256 != "" && got != strings.ToLower(o.SHA256) {
		return nil, fmt.Errorf("%w: its SHA-256 is %s", ErrUnpinned, got)
	}
	return m, nil
}

// A writer is called with how much is written.
type writer func(n int)

func (w writer) Write(b []byte) (int, error) {
	w(len(b))
	return len(b), nil
}

func (w writer) Close() error { return nil }

// Open opens a file, or an http or https URL, which may take an hour. size is -1 if it is not
// known.
func Open(ctx context.Context, from string) (r io.ReadCloser, size int64, err error) {
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		f, err := os.Open(from)
		if err != nil {
			return nil, 0, err
		}
		info, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return nil, 0, err
		}
		return f, info.Size(), nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, 0, err
	}
	resp, err := (&http.Client{Timeout: time.Hour}).Do(req)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, 0, fmt.Errorf("the server answers %s", resp.Status)
	}
	return resp.Body, resp.ContentLength, nil
}
