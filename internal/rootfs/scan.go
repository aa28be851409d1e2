//go:build unix

package rootfs

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxScan  = 1 << 18 // files and directories that one scan looks at
	maxDepth = 128     // levels, each of which takes a descriptor
	batch    = 1024    // names read at once
)

// A scan looks at everything beneath a directory once. It follows no links and
// leaves nothing changed.
type scan struct {
	ctx  context.Context
	seed maphash.Seed
	seen func(*entry)
	// enter, if set, is called for each directory before it is looked at.
	enter func(*level)

	left   int  // entries to go
	cut    bool // not everything was looked at
	newest time.Time
	buf    []byte
}

// An entry is what a scan has found. It is good during the call that gets it.
type entry struct {
	dir  *level
	name string
	st   unix.Stat_t
	sum  uint64 // tells this state of it from every other
	err  error  // of a directory: why it cannot be listed
}

func (e *entry) path() string { return path.Join(e.dir.path, e.name) }

// A level is an open directory.
type level struct {
	file *os.File
	path string
	sum  uint64 // of the path

	up    *level // nil where the scan begins
	name  string
	node  *node // of a directory that is watched
	fresh bool  // it had another name, if it was there, when that was asked for
}

// scan calls seen for all that is in f, as the user of the files. It reports
// the time of the last change, and whether it got through.
func (f *FS) scan(ctx context.Context, seed maphash.Seed, seen func(*entry)) (newest time.Time, whole bool) {
	s := newScan(ctx)
	s.seed, s.seen = seed, seen
	whole = f.run(s)
	return s.newest, whole
}

func newScan(ctx context.Context) *scan {
	return &scan{ctx: ctx, seed: maphash.MakeSeed(), left: maxScan}
}

// run is scan, for an s of the caller's.
func (f *FS) run(s *scan) (whole bool) {
	err := f.opts.As.do(func() {
		top, err := f.root.Open(".")
		if err != nil {
			s.cut = true
			return
		}
		s.level(&level{file: top, path: "."}, 1)
	})
	return err == nil && !s.cut
}

// level looks at a directory, which it closes, and then at those in it.
func (s *scan) level(l *level, depth int) {
	defer l.file.Close()
	if s.enter != nil {
		s.enter(l)
	}
	for _, sub := range s.list(l) {
		// A branch that is too deep is left out; the others are looked at all the same.
		if s.cut && s.stopped() {
			return
		}
		s.descend(l, sub, depth)
	}
}

// descend looks at what is in a directory of l's.
func (s *scan) descend(l *level, e *entry, depth int) {
	if depth >= maxDepth {
		s.cut = true
		return
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Openat(int(l.file.Fd()), e.name, flags, 0)
	switch err {
	case nil:
		file := os.NewFile(uintptr(fd), "directory")
		s.level(&level{file: file, path: e.path(), sum: s.sum(l, e.name, nil), up: l, name: e.name}, depth+1)
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP: // it is gone, or something else by now
	default:
		e.err = err
		s.seen(e)
	}
}

// list has what is in a directory seen, and returns the directories in it,
// sorted.
func (s *scan) list(l *level) (dirs []*entry) {
	var e entry
	for {
		names, err := l.file.Readdirnames(batch)
		for i, name := range names {
			if s.left--; s.left < 0 || i%64 == 0 && s.ctx.Err() != nil {
				s.cut, s.left = true, 0
				return dirs
			}
			e = entry{dir: l, name: name}
			if unix.Fstatat(int(l.file.Fd()), name, &e.st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			if t := time.Unix(e.st.Ctim.Unix()); t.After(s.newest) {
				s.newest = t
			}
			if e.st.Mode&unix.S_IFMT == unix.S_IFDIR {
				sub := e
				dirs = append(dirs, &sub)
				continue
			}
			e.sum = s.sum(l, name, &e.st)
			s.seen(&e)
		}
		// A directory that was removed meanwhile has nothing in it any more.
		if err != nil && err != io.EOF && !errors.Is(err, fs.ErrNotExist) {
			s.cut = true
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	slices.SortFunc(dirs, func(a, b *entry) int { return strings.Compare(a.name, b.name) })
	return dirs
}

func (s *scan) stopped() bool { return s.left <= 0 || s.ctx.Err() != nil }

// sum is that of a name in a directory, and of the state of what has it.
func (s *scan) sum(l *level, name string, st *unix.Stat_t) uint64 {
	b := binary.NativeEndian.AppendUint64(s.buf[:0], l.sum)
	if st != nil {
		m, c := st.Mtim.Nano(), st.Ctim.Nano()
		for _, n := range []uint64{uint64(st.Dev), uint64(st.Ino), uint64(st.Mode), uint64(st.Size), uint64(m), uint64(c)} {
			b = binary.NativeEndian.AppendUint64(b, n)
		}
	}
	s.buf = append(b, name...)
	return maphash.Bytes(s.seed, s.buf)
}
