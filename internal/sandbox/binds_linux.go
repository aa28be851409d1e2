package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A bind is a path that bubblewrap shows: what its descriptor names, or what
// the path leads to where there is none.
type bind struct {
	path     string
	writable bool
	held     *Dir
	fd       int
}

func (b bind) args() []string {
	flag := "--ro-bind"
	if b.writable {
		flag = "--bind"
	}
	if b.held != nil {
		return []string{flag + "-fd", strconv.Itoa(b.fd), b.path}
	}
	return []string{flag + "-try", b.path, b.path}
}

// binds returns what the caller listed, directories before what is in them.
// The descriptors are those from first on.
func (s *Sandbox) binds(pl *plan, first int) ([]bind, []*os.File) {
	var list []bind
	for _, h := range s.held {
		b := bind{path: h.path, writable: h.writable}
		if s.bindsFD {
			b.held = h.dir
		}
		list = append(list, b)
	}
	for _, path := range pl.ReadOnly {
		list = append(list, bind{path: filepath.Clean(path)})
	}
	for _, path := range pl.Writable {
		list = append(list, bind{path: filepath.Clean(path), writable: true})
	}
	if pl.Cwd != nil {
		list = append(list, bind{path: pl.Cwd.Path(), writable: true, held: pl.Cwd})
	}
	slices.SortStableFunc(list, func(a, b bind) int { return strings.Compare(a.path, b.path) })
	list = mountable(list)
	var files []*os.File
	for i, b := range list {
		if b.held != nil {
			list[i].fd = first + len(files)
			files = append(files, b.held.file)
		}
	}
	return list, files
}

// mountable leaves out what has no place to be shown at any more: a program that may
// write to a directory above it has put a link there, and bubblewrap, which follows
// none, would start nothing.
func mountable(list []bind) []bind {
	var kept []bind
	for _, b := range list {
		above := -1
		for i, a := range kept {
			if a.held != nil && strings.HasPrefix(b.path, a.path+"/") {
				above = i // the last one is the nearest
			}
		}
		if above < 0 || b.held == nil || b.hasPlace(kept[above]) {
			kept = append(kept, b)
		}
	}
	return kept
}

// hasPlace reports whether no link is on the way to b from a, which is above it;
// nor is anything else that is in the way. Links of the caller's own are left to
// bubblewrap, and all where the kernel does not tell: what is left out may be
// written.
func (b bind) hasPlace(a bind) bool {
	rest := strings.TrimPrefix(b.path, a.path)
	if b.held.path != a.held.path+rest {
		return true
	}
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(a.held.fd(), rest[1:], how)
	if err != nil {
		return err == unix.ENOSYS || err == unix.EPERM
	}
	defer unix.Close(fd)
	var there, shown unix.Stat_t
	if unix.Fstat(fd, &there) != nil || unix.Fstat(b.held.fd(), &shown) != nil {
		return false
	}
	return (there.Mode&unix.S_IFMT == unix.S_IFDIR) == (shown.Mode&unix.S_IFMT == unix.S_IFDIR)
}
