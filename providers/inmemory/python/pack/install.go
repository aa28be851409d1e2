package pack

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	create := func(name string) (io.WriteCloser, error) {
		return os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	info, err := os.Stat(from)
	var m *Manifest
	switch {
	case err != nil || !info.IsDir():
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
	r, size, err := Open(ctx, from, o.Client)
	if err != nil {
		return nil, err
	}
	defer r.Close()
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
	if got := hex.EncodeToString(sum.Sum(nil)); o.SHA256 != "" && got != strings.ToLower(o.SHA256) {
		return nil, fmt.Errorf("%w: its SHA-256 is %s", ErrUnpinned, got)
	}
	return m, nil
}

// Open opens a file, or an http or https URL by a client; nil means one with a time limit of
// an hour. size is -1 if it is not known.
func Open(ctx context.Context, from string, client *http.Client) (r io.ReadCloser, size int64, err error) {
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
	resp, err := cmp.Or(client, &http.Client{Timeout: time.Hour}).Do(req)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, 0, fmt.Errorf("the server answers %s", resp.Status)
	}
	return resp.Body, resp.ContentLength, nil
}
