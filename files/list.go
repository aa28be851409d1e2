package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
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
	e := Entry{Path: name, Type: typeOf(info.Mode()), Modified: info.ModTime()}
	if e.Type == TypeFile {
		e.Size = info.Size()
	}
	if !plain(name) {
		q := strconv.Quote(name)
		e.Path, e.Escaped = q[1:len(q)-1], true
	}
	return e
}

// plain reports whether a name can be shown as it is.
func plain(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
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

// maxDepth is how deeply directories are descended into.
const maxDepth = 100

// walk visits the entries of a directory, parents first, until visit returns false.
func (s *Workdir) walk(ctx context.Context, top string, depth int, visit func(string, fs.DirEntry) bool) (more string, unread []Skip, err error) {
	w := walker{s: s, ctx: ctx, visit: visit}
	select {
	case s.walking <- struct{}{}:
		defer func() { <-s.walking }()
		l, err := w.list(top, "")
		if err == nil {
			w.directory(l, min(depth, maxDepth))
		} else {
			w.err = err
		}
	case <-ctx.Done():
		w.err = context.Cause(ctx)
	}
	if errors.Is(w.err, errTime) {
		return moreTime, w.unread, nil
	}
	return w.more, w.unread, w.err
}

// The values of More.
const (
	moreEntries = "entries"
	moreTime    = "time"
)

type walker struct {
	s      *Workdir
	ctx    context.Context
	visit  func(string, fs.DirEntry) bool
	unread []Skip
	more   string
	err    error
	held   int // how many entries there are in the pages of all levels
}

// directory visits a directory and those below. It returns false to stop.
func (w *walker) directory(l *page, depth int) bool {
	for {
		for _, d := range l.entries {
			if w.ctx.Err() != nil {
				w.err = context.Cause(w.ctx)
				return false
			}
			name := path.Join(l.dir, d.Name())
			if !w.visit(name, d) {
				w.more = moreEntries
				return false
			}
			if !d.IsDir() || depth <= 1 {
				continue
			}
			if below, err := w.read(name); err != nil {
				w.skip(name, err)
			} else if !w.directory(below, depth-1) {
				return false
			}
		}
		w.drop(l)
		if w.ctx.Err() != nil {
			w.err = context.Cause(w.ctx)
			return false
		}
		if l.last == "" {
			return true
		}
		next, err := w.list(l.dir, l.last)
		if err != nil {
			w.skip(l.dir, err)
			return true
		}
		l = next
	}
}

// A page is a part of a directory.
type page struct {
	dir     string
	entries []fs.DirEntry
	last    string // the name that the next page begins after; empty: there is none
}

const (
	// maxPage is how many entries of a directory are in memory at a time, and maxHeld
	// how many of all levels. Pages become smaller towards maxHeld, but not smaller
	// than minPage, since each page reads the whole directory.
	maxPage = 8192
	minPage = 1024
	maxHeld = 4 * maxPage
)

// A pager lists a directory in parts, as internal/rootfs does. Other file systems are
// in memory, or list a directory in one message of a server.
type pager interface {
	ReadDirAfter(ctx context.Context, name, after string, most int) (_ []fs.DirEntry, last string, err error)
}

// list returns the page of a directory that begins after a name.
func (w *walker) list(dir, after string) (*page, error) {
	l := &page{dir: dir}
	var err error
	if p, ok := w.s.fsys.(pager); ok {
		l.entries, l.last, err = p.ReadDirAfter(w.ctx, dir, after, max(min(maxPage, maxHeld-w.held), minPage))
	} else {
		l.entries, err = w.s.fsys.ReadDir(dir)
	}
	if err != nil {
		return nil, err
	}
	w.held += len(l.entries)
	return l, nil
}

// drop forgets the entries of a page, before another is read.
func (w *walker) drop(l *page) {
	w.held -= len(l.entries)
	l.entries = nil
}

// read lists a directory, unless something else, such as a link, has replaced it.
func (w *walker) read(name string) (*page, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	info, err := w.s.fsys.Lstat(name)
	if err == nil && !info.IsDir() {
		err = codeinterp.ErrNotDir
	}
	if err != nil {
		return nil, err
	}
	return w.list(name, "")
}

func (w *walker) skip(name string, err error) {
	if w.ctx.Err() == nil && len(w.unread) < maxSkips {
		w.unread = append(w.unread, Skip{shown(name), reason(err)})
	}
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
