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

	"github.com/toolcell/toolcell/internal/artifact"
)

const (
	maxScan  = 50_000 // files and directories that one scan reads
	maxDepth = 128    // levels, each of which takes a descriptor
	batch    = 1024   // names read at once
)

// A scan reads the state of everything beneath a directory once. It follows no links and
// changes nothing.
type scan struct {
	ctx  context.Context
	seed maphash.Seed
	seen func(*entry)

	left   int  // entries to go
	cut    bool // not everything was looked at
	newest time.Time
	buf    []byte
}

// An entry is a file or directory of a scan, valid during the call of seen.
type entry struct {
	dir  *level
	name string
	st   unix.Stat_t
	sum  uint64 // identifies this state of it
	err  error  // why a directory cannot be listed
}

func (e *entry) path() string { return path.Join(e.dir.path, e.name) }

// A level is an open directory.
type level struct {
	file *os.File
	path string
	sum  uint64 // of the path
}

// scan calls seen for all that is in f, as the user of the files. It reports
// the time of the last change, and whether it saw everything.
func (f *FS) scan(ctx context.Context, seed maphash.Seed, seen func(*entry)) (newest time.Time, whole bool) {
	s := &scan{ctx: ctx, seed: seed, seen: seen, left: maxScan}
	err := f.opts.As.Do(func() {
		top, err := f.root.Open(".")
		if err != nil {
			s.cut = true
			return
		}
		s.level(&level{file: top, path: "."}, 1)
	})
	return s.newest, err == nil && !s.cut
}

// level reads a directory, which it closes, and then those in it.
func (s *scan) level(l *level, depth int) {
	defer l.file.Close()
	for _, sub := range s.list(l) {
		// A branch that is too deep is left out; the others are looked at all the same.
		if s.cut && s.stopped() {
			return
		}
		s.descend(l, sub, depth)
	}
}

// descend reads a directory in l.
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
		s.level(&level{file: file, path: e.path(), sum: s.sum(l, e.name, nil)}, depth+1)
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP: // it was removed or replaced
	default:
		e.err = err
		s.seen(e)
	}
}

// list calls seen for the files in a directory and returns the directories in it,
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
				if artifact.IsCacheDir(e.path()) {
					continue
				}
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

// sum returns the hash of a name in a directory and of its file's state.
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
