package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A view is what the children of a fork thread see of directories that only root
// may pass through: in a mount namespace of theirs each is an empty one, with
// nothing in it but what is shown.
type view struct {
	// Only the thread uses these.
	unshared bool
	covers   map[string]int // descriptors of what is beneath, by the path

	mu    sync.Mutex
	shown []string
}

// unshare gives the thread a mount namespace of its own, into which what the host
// mounts later comes too, and out of which nothing does.
func (v *view) unshare() error {
	if v.unshared {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	v.unshared, v.covers = true, map[string]int{}
	return nil
}

// show takes hold of what is hidden first: it cannot be named once it is covered.
func (v *view) show(list []rootPath) error {
	if err := v.unshare(); err != nil {
		return err
	}
	trees := make([]int, len(list))
	defer func() {
		for _, fd := range trees {
			if fd > 0 {
				unix.Close(fd)
			}
		}
	}()
	for i, h := range list {
		var err error
		if trees[i], err = v.hold(h); err != nil {
			return err
		}
	}
	for i, h := range list {
		if err := v.attach(h, trees[i]); err != nil {
			return err
		}
		v.mu.Lock()
		v.shown = append(v.shown, h.path)
		v.mu.Unlock()
	}
	return nil
}

// has reports whether path, or a directory that it is in, is shown.
func (v *view) has(path string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.shown, func(p string) bool { return p == path || strings.HasPrefix(path, p+"/") })
}

// hold returns a descriptor of a mount of what is hidden, 0 for a symbolic link.
func (v *view) hold(h rootPath) (int, error) {
	if h.target != "" {
		return 0, nil
	}
	beneath, covered := v.covers[h.dir]
	if !covered {
		var err error
		if beneath, err = unix.Open(h.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
			return 0, err
		}
		defer unix.Close(beneath)
	}
	name, err := filepath.Rel(h.dir, h.path)
	if err != nil {
		return 0, err
	}
	// What is mounted beneath it does not come along.
	fd, err := unix.OpenTree(beneath, name, unix.OPEN_TREE_CLONE|unix.O_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return 0, err
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, attr); err != nil {
		unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

// attach puts what hold returned to where it is hidden.
func (v *view) attach(h rootPath, tree int) error {
	if v.has(h.path) {
		return nil
	}
	if err := v.cover(h.dir); err != nil {
		return err
	}
	if err := mkdirs(h.dir, filepath.Dir(h.path)); err != nil {
		return err
	}
	if h.target != "" {
		return os.Symlink(h.target, h.path)
	}
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := mkdirs(h.dir, h.path); err != nil {
			return err
		}
	} else if err := os.WriteFile(h.path, nil, 0o444); err != nil {
		return bare(err)
	}
	return unix.MoveMount(tree, "", unix.AT_FDCWD, h.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// cover has programs find nothing in a directory, to which only root may add.
func (v *view) cover(dir string) error {
	if _, ok := v.covers[dir]; ok {
		return nil
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=1m"); err != nil {
		unix.Close(fd)
		return err
	}
	v.covers[dir] = fd
	return nil
}

// close lets go what is covered; the namespace ends with its last process.
func (v *view) close() {
	for _, fd := range v.covers {
		unix.Close(fd)
	}
	v.covers = nil
}

// mkdirs makes directories below top that everybody may pass through, whatever
// the host's mask says.
func mkdirs(top, dir string) error {
	rest, err := filepath.Rel(top, dir)
	if err != nil {
		return err
	}
	for _, name := range split(rest) {
		if name == "." {
			continue
		}
		top = filepath.Join(top, name)
		err := os.Mkdir(top, 0o755)
		if err == nil {
			err = os.Chmod(top, 0o755)
		}
		if err != nil && !os.IsExist(err) {
			return bare(err)
		}
	}
	return nil
}

// fork makes a child in the namespace: a directory that was opened outside would
// have no path there.
func (v *view) fork(sp *spawn) error {
	if v.unshared && sp.cwd != nil {
		cwd, err := sp.cwd.again()
		if err != nil {
			return err
		}
		defer cwd.Close()
		sp.cwd = cwd
	}
	return sp.fork()
}
