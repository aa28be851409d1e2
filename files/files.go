package files

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// Options tunes a [Workdir]. The zero value is ready to use.
type Options struct {
	// Dir is the directory as programs see it, such as /workspace. Absolute
	// paths have to be within it. Empty allows none.
	Dir string

	// MaxRead is how many bytes of a file Read returns at most. Zero means
	// 256 KiB.
	MaxRead int

	// MaxEdit is the size of the largest file that Edit changes. Zero means
	// 8 MiB.
	MaxEdit int

	// MaxEntries is how many entries, names or lines a List, Glob or Grep
	// returns at most. Zero means 1000.
	MaxEntries int

	// Time is how long one operation may take. Zero means 20 seconds.
	Time time.Duration

	// Filter, if set, changes the contents that are read or searched, for instance to
	// replace secrets. It returns a function that takes contents and passes the
	// result to emit, and one that passes the rest. Lines and bytes are counted in
	// the result.
	Filter func(emit func([]byte)) (write func([]byte), flush func())
}

// A Workdir is a directory that files are read, written and searched in. Its methods are safe for
// concurrent use. Their errors wrap those of [codeinterp.FS], or
// codeinterp.ErrInvalid where an argument is malformed, or the cause of ctx.
type Workdir struct {
	fsys codeinterp.FS
	o    Options
	// writing holds the turn of the writer.
	writing chan struct{}
	// walking limits concurrent walks.
	walking chan struct{}
}

// maxWalks is how many walks run at a time; others wait.
const maxWalks = 8

// New returns a Workdir over fsys. o may be nil.
func New(fsys codeinterp.FS, o *Options) *Workdir {
	s := &Workdir{fsys: fsys, writing: make(chan struct{}, 1), walking: make(chan struct{}, maxWalks)}
	if o != nil {
		s.o = *o
	}
	s.o.MaxRead = cmp.Or(s.o.MaxRead, 256<<10)
	s.o.MaxEdit = cmp.Or(s.o.MaxEdit, 8<<20)
	s.o.MaxEntries = cmp.Or(s.o.MaxEntries, 1000)
	s.o.Time = cmp.Or(s.o.Time, 20*time.Second)
	return s
}

// With returns a Workdir over the same files that takes turns with s in
// writing and searching, and has other options but the same Dir. o may be nil.
func (s *Workdir) With(o *Options) *Workdir {
	var c Options
	if o != nil {
		c = *o
	}
	c.Dir = s.o.Dir
	t := New(s.fsys, &c)
	t.writing, t.walking = s.writing, s.walking
	return t
}

// Dir returns the directory as programs see it, empty if not known.
func (s *Workdir) Dir() string { return s.o.Dir }

// Name returns the name of a path in the FS, "." for the directory.
func (s *Workdir) Name(p string) (string, error) {
	if !utf8.ValidString(p) || strings.IndexByte(p, 0) >= 0 || len(p) > maxPath {
		return "", fmt.Errorf("%w: path %.200q", codeinterp.ErrInvalid, p)
	}
	name := path.Clean(p)
	if path.IsAbs(name) {
		dir := path.Clean("/" + s.o.Dir)
		// With a slash behind both: /work2 is not within /work.
		rest, ok := strings.CutPrefix(name+"/", strings.TrimSuffix(dir, "/")+"/")
		if s.o.Dir == "" || !ok {
			return "", &fs.PathError{Op: "open", Path: p, Err: codeinterp.ErrOutside}
		}
		name = path.Clean(rest)
	}
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: "open", Path: p, Err: codeinterp.ErrOutside}
	}
	return name, nil
}

const maxPath = 4096

// bound returns a ctx that ends with the time of an operation.
func (s *Workdir) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.o.Time, errTime)
}

// errTime is the cause of the end of an operation that took too long.
var errTime = fmt.Errorf("%w: the files took too long", codeinterp.ErrCapacity)

// turn waits for the turn to write; done ends it.
func (s *Workdir) turn(ctx context.Context) (done func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case s.writing <- struct{}{}:
		return func() { <-s.writing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// chunk is how much of a file is read at once.
const chunk = 64 << 10

// stream passes the filtered contents of a file to emit until that returns
// false, or ctx ends.
func (s *Workdir) stream(ctx context.Context, name string, emit func([]byte) bool) error {
	f, err := s.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	more := true
	// A filter may still pass data after emit has returned false.
	pass := func(b []byte) { more = more && emit(b) }
	write, flush := pass, func() {}
	if s.o.Filter != nil {
		write, flush = s.o.Filter(pass)
	}
	buf := make([]byte, chunk)
	for more {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := f.Read(buf)
		write(buf[:n])
		if err == io.EOF {
			flush()
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// open opens a regular file for reading.
func (s *Workdir) open(name string) (fs.File, error) {
	// Not by Open, which lists a directory.
	return s.fsys.OpenFile(name, os.O_RDONLY, 0)
}
