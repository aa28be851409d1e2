package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	filePerm = 0o644
	dirPerm  = 0o755
)

// WriteOptions tunes Write. The zero value creates or replaces.
type WriteOptions struct {
	Append bool // add to what is there
}

// Write writes a file, and creates the directories above it that are missing.
// If it fails, the file has what was written so far. o may be nil.
func (s *Workdir) Write(ctx context.Context, p string, data []byte, o *WriteOptions) error {
	if o == nil {
		o = &WriteOptions{}
	}
	return s.change(ctx, p, func(ctx context.Context, name string) error {
		if dir := path.Dir(name); dir != "." {
			if err := s.fsys.MkdirAll(dir, dirPerm); err != nil {
				return err
			}
		}
		flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if o.Append {
			flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		}
		return s.put(ctx, name, flag, data)
	})
}

// change calls do when it is the turn of this writer.
func (s *Workdir) change(ctx context.Context, p string, do func(ctx context.Context, name string) error) error {
	name, err := s.Name(p)
	if err != nil {
		return err
	}
	ctx, cancel := s.bound(ctx)
	defer cancel()
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return do(ctx, name)
}

// put writes data into a file, in pieces. If it cannot open the file, it does not
// change it.
func (s *Workdir) put(ctx context.Context, name string, flag int, data []byte) (err error) {
	f, err := s.fsys.OpenFile(name, flag, filePerm)
	if err != nil {
		return unopened{err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for len(data) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := f.Write(data[:min(len(data), 1<<20)])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// unopened is the error of a file that was not changed.
type unopened struct{ error }

func (u unopened) Unwrap() error { return u.error }

// EditOptions tunes Edit. The zero value replaces one place.
type EditOptions struct {
	All bool // replace every place, at least one
}

// Edit replaces text in a file, which must have old exactly once, and returns how
// many places it replaced. If the new contents cannot be written, it writes the old
// ones back, if possible. o may be nil.
func (s *Workdir) Edit(ctx context.Context, p, old, replacement string, o *EditOptions) (n int, err error) {
	all := o != nil && o.All
	switch {
	case old == "":
		return 0, fmt.Errorf("%w: the text to replace is empty; write the file instead", codeinterp.ErrInvalid)
	case old == replacement:
		return 0, fmt.Errorf("%w: the replacement is the same as the text to replace", codeinterp.ErrInvalid)
	}
	err = s.change(ctx, p, func(ctx context.Context, name string) error {
		before, err := s.whole(ctx, name)
		if err != nil {
			return err
		}
		switch n = bytes.Count(before, []byte(old)); {
		case n == 0:
			return fmt.Errorf("%w: the text to replace is not in the file; it has to match exactly, spaces and line ends too", codeinterp.ErrInvalid)
		case n > 1 && !all:
			return fmt.Errorf("%w: the text to replace is in the file %d times; make it longer, or replace all", codeinterp.ErrInvalid, n)
		}
		// Checked first: many places and a long replacement may need much memory.
		if grown := len(before) + n*(len(replacement)-len(old)); grown > s.o.MaxEdit {
			return &fs.PathError{Op: "edit", Path: name, Err: codeinterp.ErrTooLarge}
		}
		after := bytes.ReplaceAll(before, []byte(old), []byte(replacement))
		err = s.put(ctx, name, os.O_WRONLY|os.O_TRUNC, after)
		if _, untouched := errors.AsType[unopened](err); err != nil && !untouched {
			// Even if ctx has ended.
			if again := s.put(context.WithoutCancel(ctx), name, os.O_WRONLY|os.O_TRUNC, before); again != nil {
				err = fmt.Errorf("%w; the file is damaged: its old contents could not be restored: %w", err, again)
			}
		}
		return err
	})
	if err != nil {
		n = 0
	}
	return n, err
}

// whole reads a file that is to be edited.
func (s *Workdir) whole(ctx context.Context, name string) ([]byte, error) {
	f, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(s.o.MaxEdit)+1))
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case len(b) > s.o.MaxEdit:
		return nil, &fs.PathError{Op: "edit", Path: name, Err: codeinterp.ErrTooLarge}
	}
	return b, nil
}

// Mkdir creates a directory and those above it. It may exist.
func (s *Workdir) Mkdir(ctx context.Context, p string) error {
	return s.change(ctx, p, func(_ context.Context, name string) error { return s.fsys.MkdirAll(name, dirPerm) })
}

// RemoveOptions tunes Remove.
type RemoveOptions struct {
	Recursive bool // remove a directory with all that is in it
}

// Remove removes a file, a link or an empty directory. A path that does not exist is
// fs.ErrNotExist. o may be nil.
func (s *Workdir) Remove(ctx context.Context, p string, o *RemoveOptions) error {
	return s.change(ctx, p, func(_ context.Context, name string) error {
		if name == "." {
			return fmt.Errorf("%w: the root directory cannot be removed", codeinterp.ErrInvalid)
		}
		if o == nil || !o.Recursive {
			return s.fsys.Remove(name)
		}
		// RemoveAll succeeds without a file; a model that mistook a name must know.
		if _, err := s.fsys.Lstat(name); err != nil {
			return err
		}
		return s.fsys.RemoveAll(name)
	})
}

// Move renames a file, link or directory. It creates missing directories above the new
// name and replaces an existing file.
func (s *Workdir) Move(ctx context.Context, from, to string) error {
	target, err := s.Name(to)
	if err != nil {
		return err
	}
	return s.change(ctx, from, func(_ context.Context, name string) error {
		if dir := path.Dir(target); dir != "." {
			if err := s.fsys.MkdirAll(dir, dirPerm); err != nil {
				return err
			}
		}
		return s.fsys.Rename(name, target)
	})
}
