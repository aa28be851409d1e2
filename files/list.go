package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// The types of entries.
const (
	TypeFile    = "file"
	TypeDir     = "directory"
	TypeLink    = "link"
	TypeSpecial = "special" // a FIFO, a socket or a device
)

// An Entry is an entry of a directory.
type Entry struct {
	// Path is relative to the directory of the Workdir. If Escaped, it is
	// written as within a Go string.
	Path    string
	Escaped bool

	Type     string // TypeFile and so on
	Size     int64  // of a file
	Modified time.Time
}

func entryOf(name string, info fs.FileInfo) Entry {
	e := Entry{Path: shown(name), Type: typeOf(info.Mode()), Modified: info.ModTime()}
	e.Escaped = e.Path != name
	if e.Type == TypeFile {
		e.Size = info.Size()
	}
	return e
}

func typeOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return TypeFile
	case fs.ModeDir:
		return TypeDir
	case fs.ModeSymlink:
		return TypeLink
	}
	return TypeSpecial
}

// A Listing is what List and Glob found.
type Listing struct {
	Entries []Entry // in the order of a walk, sorted by name within a directory

	// More says why there may be more: "entries" if there are too many, "time"
	// if it took too long. Unread are directories that could not be read, or
	// were gone by then, up to a hundred.
	More   string
	Unread []Skip
}

// A Skip is something that was left out.
type Skip struct{ Path, Reason string }

const maxSkips = 100

// Stat describes a path, a link itself.
func (s *Workdir) Stat(ctx context.Context, p string) (Entry, error) {
	name, err := s.Name(p)
	if err != nil {
		return Entry{}, err
	}
	if ctx.Err() != nil {
		return Entry{}, context.Cause(ctx)
	}
	info, err := s.fsys.Lstat(name)
	if err != nil {
		return Entry{}, err
	}
	return entryOf(name, info), nil
}

// ListOptions tunes List. The zero value lists one directory.
type ListOptions struct {
	Depth int // levels of directories to list; zero means 1, the directory alone
	Limit int // how many entries to return; zero means Options.MaxEntries
}

// List lists a directory and, to a depth, those in it. Links are not followed. o may
// be nil.
func (s *Workdir) List(ctx context.Context, p string, o *ListOptions) (Listing, error) {
	if o == nil {
		o = &ListOptions{}
	}
	return s.find(ctx, p, max(o.Depth, 1), o.Limit, func(string, fs.DirEntry) bool { return true })
}

// GlobOptions tunes Glob.
type GlobOptions struct {
	Limit int // how many entries to return; zero means Options.MaxEntries
}

// Glob finds the paths in a directory, at any depth, that match a pattern: ?
// and * match within a name, ** over any number of directories, [a-z] one
// character, {a,b} one of several. A pattern without a slash is one for names,
// at any depth. Directories match too. o may be nil.
func (s *Workdir) Glob(ctx context.Context, p, pattern string, o *GlobOptions) (Listing, error) {
	if o == nil {
		o = &GlobOptions{}
	}
	matches, err := compile(pattern)
	if err != nil {
		return Listing{}, err
	}
	dir, err := s.Name(p)
	if err != nil {
		return Listing{}, err
	}
	return s.find(ctx, p, maxDepth, o.Limit, func(name string, _ fs.DirEntry) bool { return matches(below(dir, name)) })
}

// below returns name relative to dir, which it is in.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
}

func (s *Workdir) find(ctx context.Context, p string, depth, most int, wanted func(string, fs.DirEntry) bool) (Listing, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	name, err := s.Name(p)
	if err != nil {
		return Listing{}, err
	}
	most = min(cmp.Or(max(most, 0), s.o.MaxEntries), s.o.MaxEntries)
	var l Listing
	l.More, l.Unread, err = s.walk(ctx, name, depth, func(name string, d fs.DirEntry) bool {
		if !wanted(name, d) {
			return true
		}
		if len(l.Entries) >= most {
			return false
		}
		// Skip an entry that is gone by now.
		if info, err := d.Info(); err == nil {
			l.Entries = append(l.Entries, entryOf(name, info))
		}
		return true
	})
	return l, err
}

const (
	// maxDepth is how deeply directories are descended into.
	maxDepth = 100
	// maxListed is how many entries one walk lists.
	maxListed = 1 << 20
)

// The values of More.
const (
	moreEntries = "entries"
	moreTime    = "time"
)

// walk visits the entries of a directory, parents first, until visit returns false.
func (s *Workdir) walk(ctx context.Context, top string, depth int, visit func(string, fs.DirEntry) bool) (more string, unread []Skip, err error) {
	select {
	case s.walking <- struct{}{}:
		defer func() { <-s.walking }()
		err = fs.WalkDir(&boundedFS{s.fsys, maxListed}, top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case name == top && err == nil && !d.IsDir():
				return &fs.PathError{Op: "list", Path: name, Err: codeinterp.ErrNotDir}
			case name == top:
				return err
			case err != nil: // the second visit of a directory, which could not be read
				if len(unread) < maxSkips {
					unread = append(unread, Skip{shown(name), reason(err)})
				}
				return nil
			case !visit(name, d):
				more = moreEntries
				return fs.SkipAll
			case d.IsDir() && strings.Count(below(top, name), "/")+1 >= min(depth, maxDepth):
				return fs.SkipDir
			}
			return nil
		})
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if errors.Is(err, errTime) {
		return moreTime, unread, nil
	}
	return more, unread, err
}

// A boundedFS lists only so many entries, and no directory that a link has replaced.
type boundedFS struct {
	codeinterp.FS
	left int
}

func (b *boundedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	info, err := b.Lstat(name)
	if err == nil && !info.IsDir() && name != "." {
		err = &fs.PathError{Op: "list", Path: name, Err: codeinterp.ErrNotDir}
	}
	if err != nil {
		return nil, err
	}
	list, err := b.FS.ReadDir(name)
	if b.left -= len(list); b.left < 0 {
		return nil, &fs.PathError{Op: "list", Path: name, Err: codeinterp.ErrTooLarge}
	}
	return list, err
}

// plain reports whether a name can be shown as it is.
func plain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// shown returns a name, escaped if it cannot be shown.
func shown(name string) string {
	if plain(name) {
		return name
	}
	q := strconv.Quote(name)
	return q[1 : len(q)-1]
}

// reason returns the text of an error without the path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}
