package driver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// copyFiles copies src into dst, all of it or nothing. Files of the same name are
// replaced.
func copyFiles(ctx context.Context, dst codeinterp.FS, src fs.FS) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: files: the source panicked: %.200s", codeinterp.ErrInvalid, fmt.Sprint(v))
		}
	}()
	list, err := inputsOf(ctx, src)
	if err != nil || len(list) == 0 {
		return err
	}
	c := &copying{ctx: ctx, dst: dst, src: src, list: list, left: codeinterp.MaxInputBytes}
	// In dst, so that renames stay in one file system, with a name that programs cannot
	// guess.
	c.stage = ".toolcell-" + rand.Text()
	if err := dst.Mkdir(c.stage, 0o700); err != nil {
		return unplaced(c.stage, err)
	}
	defer func() { err = joined([]error{err, dst.RemoveAll(c.stage)}) }()
	if err := c.copy(); err != nil {
		return err
	}
	return c.install()
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
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err
		}
	}
}

// A copying is a copy in progress.
type copying struct {
	ctx   context.Context
	dst   codeinterp.FS
	src   fs.FS
	list  []input
	left  int64  // bytes that may still come
	stage string // directory of dst to copy to first
	undo  []func()
}

// copy copies everything to the stage.
func (c *copying) copy() error {
	for _, in := range c.list {
		to := c.stage + "/" + in.path
		if in.dir {
			// The owner must be able to write into it.
			if err := c.dst.MkdirAll(to, in.perm|0o700); err != nil {
				return unplaced(in.path, err)
			}
		} else if err := c.file(in, to); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) file(in input, to string) (err error) {
	from, err := c.src.Open(in.path)
	if err != nil {
		return unread(in.path, err)
	}
	defer from.Close()
	f, err := c.dst.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, in.perm|0o600)
	if err != nil {
		return unplaced(in.path, err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
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

// install moves everything from the stage to its place, or undoes it.
func (c *copying) install() (err error) {
	defer func() {
		if err != nil {
			// Backwards: a directory must be empty.
			for n := len(c.undo) - 1; n >= 0; n-- {
				c.undo[n]()
			}
		}
	}()
	for n, in := range c.list {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		if in.dir {
			err = c.directory(in)
		} else {
			err = c.replace(in, fmt.Sprintf("%s/.old-%d", c.stage, n))
		}
		if err != nil {
			return unplaced(in.path, err)
		}
	}
	return nil
}

func (c *copying) directory(in input) error {
	err := c.dst.Mkdir(in.path, in.perm|0o700)
	if err == nil {
		c.undo = append(c.undo, func() { _ = c.dst.Remove(in.path) })
		return nil
	}
	if info, e := c.dst.Stat(in.path); e == nil && info.IsDir() {
		return nil
	} else if e == nil {
		return codeinterp.ErrNotDir
	}
	return err
}

// replace moves a file to its place and an existing one aside.
func (c *copying) replace(in input, aside string) error {
	info, err := c.dst.Lstat(in.path)
	switch {
	case err == nil && info.IsDir():
		return codeinterp.ErrIsDir
	case err == nil:
		if err := c.dst.Rename(in.path, aside); err != nil {
			return err
		}
		c.undo = append(c.undo, func() { _ = c.dst.Rename(aside, in.path) })
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := c.dst.Rename(c.stage+"/"+in.path, in.path); err != nil {
		return err
	}
	c.undo = append(c.undo, func() { _ = c.dst.Remove(in.path) })
	return nil
}
