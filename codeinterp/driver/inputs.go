package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// copyFiles copies src into dst. Files of the same name are replaced. What cannot be
// copied by its name, kind or size is refused before anything is written.
func copyFiles(ctx context.Context, dst codeinterp.FS, src fs.FS) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: files: the source panicked: %.200s", codeinterp.ErrInvalid, fmt.Sprint(v))
		}
	}()
	list, err := inputsOf(ctx, src)
	if err != nil {
		return err
	}
	c := &copying{ctx: ctx, dst: dst, src: src, left: codeinterp.MaxInputBytes}
	for _, in := range list {
		// The owner must be able to write into a directory.
		if in.dir {
			err = unplaced(in.path, dst.MkdirAll(in.path, in.perm|0o700))
		} else {
			err = c.file(in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An input is a file or a directory to be copied.
type input struct {
	path string
	dir  bool
	perm fs.FileMode
}

// inputsOf lists src, and refuses what cannot be copied.
func inputsOf(ctx context.Context, src fs.FS) (list []input, err error) {
	var bytes int64
	began := false
	err = fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return unread(path, err)
		case path == "." && !began:
			began = true
			return nil
		case path == ".": // an entry with that name, which would be walked without end
			return unread(path, fs.ErrInvalid)
		case !utf8.ValidString(path):
			return unread(path, errNotUTF8)
		case !fs.ValidPath(path):
			return unread(path, fs.ErrInvalid)
		case len(list) == codeinterp.MaxInputFiles:
			return tooMuch("more than %d files and directories", codeinterp.MaxInputFiles)
		case !d.IsDir() && !d.Type().IsRegular():
			return unread(path, codeinterp.ErrSpecial)
		}
		info, err := d.Info()
		if err != nil {
			return unread(path, err)
		}
		in := input{path: path, dir: d.IsDir(), perm: info.Mode().Perm()}
		if !in.dir {
			if bytes += info.Size(); bytes > codeinterp.MaxInputBytes {
				return tooMuch("more than %d bytes, with %s", int64(codeinterp.MaxInputBytes), path)
			}
		}
		list = append(list, in)
		return nil
	})
	return list, err
}

func tooMuch(format string, args ...any) error {
	return fmt.Errorf("%w: files: %w: %s", codeinterp.ErrInvalid, codeinterp.ErrTooLarge, fmt.Sprintf(format, args...))
}

// unread is the error of a file of the source.
func unread(path string, err error) error {
	if !showable(path) {
		path = strconv.Quote(path)
	}
	return fmt.Errorf("%w: files: %s: %w", codeinterp.ErrInvalid, path, bare(err))
}

var errNotUTF8 = fmt.Errorf("%w: the name is not UTF-8", fs.ErrInvalid)

// unplaced is the error of a file that cannot be written to dst.
func unplaced(path string, err error) error {
	kind := codeinterp.ErrUnavailable
	switch {
	case err == nil:
		return nil
	case errors.Is(err, codeinterp.ErrQuota):
		kind = codeinterp.ErrCapacity
	case errors.Is(err, codeinterp.ErrIsDir), errors.Is(err, codeinterp.ErrNotDir), errors.Is(err, codeinterp.ErrTooLarge),
		errors.Is(err, codeinterp.ErrOutside), errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, codeinterp.ErrSpecial):
		kind = codeinterp.ErrInvalid
	}
	return fmt.Errorf("%w: files: %s cannot be placed: %w", kind, path, bare(err))
}

// bare removes paths of the host from an error.
func bare(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return bare(e.Err)
	case *os.LinkError:
		return bare(e.Err)
	case *os.SyscallError:
		return bare(e.Err)
	}
	return err
}

// A copying is a copy in progress.
type copying struct {
	ctx  context.Context
	dst  codeinterp.FS
	src  fs.FS
	left int64 // bytes that may still come
}

// file copies a file. A link that has its name is replaced too.
func (c *copying) file(in input) (err error) {
	from, err := c.src.Open(in.path)
	if err != nil {
		return unread(in.path, err)
	}
	defer from.Close()
	if info, err := c.dst.Lstat(in.path); err == nil && !info.IsDir() {
		if err := c.dst.Remove(in.path); err != nil {
			return unplaced(in.path, err)
		}
	}
	f, err := c.dst.OpenFile(in.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, in.perm|0o600)
	if err != nil {
		return unplaced(in.path, err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = unplaced(in.path, e)
		}
	}()
	buf := make([]byte, 256<<10)
	for idle := 0; ; {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		// Counted again, since the source may report wrong sizes.
		n, err := from.Read(buf)
		if c.left -= int64(n); c.left < 0 {
			return tooMuch("more than %d bytes, with %s", int64(codeinterp.MaxInputBytes), in.path)
		}
		if idle++; n > 0 {
			idle = 0
			if _, err := f.Write(buf[:n]); err != nil {
				return unplaced(in.path, err)
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err == nil && idle > 100:
			err = io.ErrNoProgress
			fallthrough
		case err != nil:
			return unread(in.path, err)
		}
	}
}
