//go:build unix

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/acl"
)

// An ids hands out the uids that programs of a root host run as: one for each
// working directory, from a range that no account uses.
type ids struct {
	lo, hi int

	mu   sync.Mutex
	next int
}

// own returns the identity for a program in dir. A directory of TempDir's,
// which ours says it is, is handed over to a fresh one, or keeps that which it
// belongs to. Others decide it by their owner, who must not be root.
func (i *ids) own(dir string, ours bool) (identity, error) {
	uid, gid, err := ownerOf(dir)
	if err != nil {
		return identity{}, err
	}
	switch {
	case ours && uid >= i.lo && uid < i.hi:
		return identity{uid, uid, true, true}, nil
	case ours:
		id := i.fresh()
		return id, handOver(dir, id)
	case uid == 0:
		return identity{}, fmt.Errorf("%w: the working directory belongs to root, and programs never run as root; give it to another user, or let everybody change it", codeinterp.ErrIsolation)
	}
	return identity{uid: uid, gid: cmp.Or(gid, uid), drop: true}, nil
}

// identify returns the identity for a plan's program.
func (s *Sandbox) identify(pl *plan) (id identity, err error) {
	ours := s.temp.holds(pl.Workdir)
	if pl.Cwd == nil {
		return s.ids.own(pl.Workdir, ours)
	}
	if id, err = s.ids.guest(pl.Cwd); err != nil {
		return id, err
	}
	uid, _, err := ownerOf(pl.Workdir)
	if err != nil || uid == id.uid || !ours {
		return id, err
	}
	return id, handOver(pl.Workdir, id)
}

// guest returns the identity for a program in a directory of the caller's: its owner,
// or where that is root a uid that belongs to the directory, and that is let in
// by the directory's access list unless every user is.
func (i *ids) guest(d *Dir) (identity, error) {
	if uid, _, err := ownerOf(d.Path()); err != nil || uid != 0 || i.hi <= i.lo {
		return i.own(d.Path(), false)
	}
	h := fnv.New64a()
	fmt.Fprint(h, d.dev, " ", d.ino)
	// The same for every run and every host, so that what one program left is the
	// next one's.
	uid := i.lo + int(h.Sum64()%uint64(i.hi-i.lo))
	id := identity{uid: uid, gid: uid, drop: true}
	if openToAll(d.Path()) {
		return id, nil
	}
	if err := acl.Grant(d.fd(), uid); err != nil {
		return identity{}, fmt.Errorf("%w: the working directory belongs to root, programs never run as root, and another user cannot be let in (%w); give it to another user, or let everybody change it", codeinterp.ErrIsolation, err)
	}
	return id, nil
}

// User returns whom programs run as whose Cwd is d; other says that this is not the
// host's own user.
func (s *Sandbox) User(d *Dir) (uid, gid int, other bool, err error) {
	if err := s.Reachable(d.Path()); err != nil || s.ids == nil {
		return 0, 0, false, err
	}
	id, err := s.ids.guest(d)
	return id.uid, id.gid, true, err
}

// openToAll reports whether every user may change a directory.
func openToAll(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.Mode().Perm()&0o007 == 0o007
}

// fresh returns an unused identity.
func (i *ids) fresh() identity {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.next++; i.next >= i.hi {
		i.next = i.lo
	}
	return identity{i.next, i.next, true, true}
}

// handOver makes id the owner of dir and what is in it. It follows no symbolic
// links, and leaves files alone that have other names elsewhere.
func handOver(dir string, id identity) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return bare(err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		// A hard link may be a name of a file of another owner, such as one of
		// the host's.
		if st, ok := sysStat(info); ok && !d.IsDir() && st.Nlink > 1 {
			return nil
		}
		return root.Lchown(filepath.FromSlash(name), id.uid, id.gid)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("working directory: cannot hand it to uid %d: %w", id.uid, bare(err))
	}
	return nil
}

// alone reports whether a plan's program has its uid to itself.
func alone(pl *plan) bool { return pl.ids.own && !pl.forked && pl.family == nil }

// user says who programs run as, for the report.
func (s *Sandbox) user() string {
	if s.ids == nil {
		return strconv.Itoa(os.Getuid()) + " (the host's)"
	}
	return "an unused uid for each working directory"
}

// Owner returns the user of a program that was started in workdir, a directory of
// TempDir's; also if it starts in a Cwd. other says that this is not the host's own user.
func (s *Sandbox) Owner(workdir string) (uid, gid int, other bool, err error) {
	if s.ids == nil {
		return 0, 0, false, nil
	}
	uid, gid, err = ownerOf(workdir)
	if err == nil && uid == 0 {
		err = fmt.Errorf("%w: the working directory belongs to root", codeinterp.ErrIsolation)
	}
	return uid, gid, true, err
}

// ownerOf returns the owner of a working directory.
func ownerOf(dir string) (uid, gid int, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("%w: working directory: %w", codeinterp.ErrInvalid, err)
	}
	return int(st.Uid), int(st.Gid), nil
}
