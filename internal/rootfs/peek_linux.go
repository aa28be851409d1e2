package rootfs

import (
	"cmp"
	"context"
	"hash/maphash"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	// maxSum is how many bytes are read to see whether a mapping was written to.
	maxSum = 64 << 20

	maxPeek = 64 // files that are open at once
)

// A peeked is a regular file, which is open unless that is refused.
type peeked struct {
	key  key
	st   unix.Stat_t
	file *os.File
}

func join(dir, name string) string { return path.Join(dir, name) }

// sorted returns keys by directory, so that each is opened once.
func sorted[V any](keys map[key]V) []key {
	return slices.SortedFunc(maps.Keys(keys), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.n.ino, b.n.ino), cmp.Compare(a.name, b.name))
	})
}

// peek calls see for each of the files that is there and a regular one. That they
// are opened for it is no event.
func (t *tree) peek(ctx context.Context, keys map[key]bool, see func(*peeked)) {
	for batch := range slices.Chunk(sorted(keys), maxPeek) {
		if ctx.Err() != nil {
			return
		}
		t.w.mu.Lock()
		for _, k := range batch {
			if !t.lost {
				t.muted[k] = true
			}
		}
		t.w.mu.Unlock()
		_ = t.fs.opts.As.do(func() { t.peekBatch(ctx, batch, see) })
	}
}

func (t *tree) peekBatch(ctx context.Context, batch []key, see func(*peeked)) {
	var all []*peeked
	t.each(ctx, batch, nil, func(dir *os.File, k key, st *unix.Stat_t) {
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			return
		}
		p := &peeked{key: k, st: *st}
		const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_CLOEXEC
		if fd, err := unix.Openat(int(dir.Fd()), k.name, flags, 0); err == nil {
			p.file = os.NewFile(uintptr(fd), "file")
			if unix.Fstat(fd, &p.st) != nil || p.st.Mode&unix.S_IFMT != unix.S_IFREG {
				p.file.Close()
				return
			}
		}
		all = append(all, p)
	})
	// Who opens one of them from now on is noted; who did before is seen.
	t.w.mu.Lock()
	t.w.drain()
	clear(t.muted)
	t.w.mu.Unlock()
	for _, p := range all {
		see(p)
		if p.file != nil {
			p.file.Close()
		}
	}
}

// each calls see for those of the names that are there, as the user of the files,
// who is the caller, and missing for the others. It ends with ctx.
func (t *tree) each(ctx context.Context, keys []key, missing func(key, error), see func(dir *os.File, k key, st *unix.Stat_t)) {
	var dir *os.File
	var of *node
	var err error
	defer func() {
		if dir != nil {
			dir.Close()
		}
	}()
	for _, k := range keys {
		if ctx.Err() != nil {
			return
		}
		if k.n != of {
			if dir != nil {
				dir.Close()
			}
			of = k.n
			dir, err = t.openDir(of)
		}
		var st unix.Stat_t
		fault := err
		if fault == nil {
			fault = unix.Fstatat(int(dir.Fd()), k.name, &st, unix.AT_SYMLINK_NOFOLLOW)
		}
		if fault == nil {
			see(dir, k, &st)
		} else if missing != nil {
			missing(k, fault)
		}
	}
}

// mayBeWritten reports whether somebody has the file open for writing, or mapped
// so, or nobody knows.
func (p *peeked) mayBeWritten() bool {
	if p.file == nil {
		return true
	}
	fd := int(p.file.Fd())
	// The kernel grants a read lease only where nobody can write. A program that
	// opens the file right now waits until it is given back; SIGURG, which tells of
	// that, means nothing in Go.
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETSIG, int(unix.SIGURG))
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return true
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err != nil
}

// sum is that of the content, false where it takes more than what is left of the
// budget.
func (p *peeked) sum(seed maphash.Seed, budget *int64) (uint64, bool) {
	if *budget -= p.st.Size; p.file == nil || *budget < 0 {
		return 0, false
	}
	var h maphash.Hash
	h.SetSeed(seed)
	_, err := io.Copy(&h, io.LimitReader(p.file, p.st.Size))
	return h.Sum64(), err == nil
}
