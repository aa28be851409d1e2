package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A view is what the children of a fork thread see of directories that only root may
// pass through: in a mount namespace of theirs each is an empty one, with nothing in it
// but what is shown.
type view struct {
	// Only the thread uses these.
	unshared bool
	covers   map[string]int // descriptors of covered directories by their paths

	mu    sync.Mutex
	shown []string
}

// unshare gives the thread a mount namespace of its own. Later mounts of the host appear
// in it; its own mounts do not leave it.
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

func (v *view) show(list []rootPath) error {
	if err := v.unshare(); err != nil {
		return err
	}
	for _, h := range list {
		if v.shows(h.path, true) {
			continue
		}
		if err := v.attach(h); err != nil {
			return err
		}
		v.mu.Lock()
		v.shown = append(v.shown, h.path)
		v.mu.Unlock()
	}
	return nil
}

// shows reports whether path is shown, or, if within is set, a directory that it is in.
func (v *view) shows(path string, within bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.shown, func(p string) bool { return p == path || within && strings.HasPrefix(path, p+"/") })
}

// attach shows a path in a covered directory. Mounts beneath it are not shown.
func (v *view) attach(h rootPath) error {
	covered, err := v.cover(h.dir)
	if err != nil {
		return err
	}
	if err := mkdirs(h.dir, filepath.Dir(h.path)); err != nil {
		return err
	}
	if h.target != "" {
		return os.Symlink(h.target, h.path)
	}
	name := strings.TrimPrefix(h.path, h.dir+"/")
	tree, err := unix.OpenTree(covered, name, unix.OPEN_TREE_CLONE|unix.O_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, attr); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = mkdirs(h.dir, h.path)
	} else {
		err = os.WriteFile(h.path, nil, 0o444)
	}
	if err != nil {
		return bare(err)
	}
	return unix.MoveMount(tree, "", unix.AT_FDCWD, h.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// cover puts an empty directory, to which only root may add, over one, and returns a
// descriptor of that.
func (v *view) cover(dir string) (int, error) {
	if fd, ok := v.covers[dir]; ok {
		return fd, nil
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=1m"); err != nil {
		unix.Close(fd)
		return -1, err
	}
	v.covers[dir] = fd
	return fd, nil
}

// close closes the descriptors; the namespace ends with its last process.
func (v *view) close() {
	for _, fd := range v.covers {
		unix.Close(fd)
	}
	v.covers = nil
}

// mkdirs makes directories below top that every user may pass through, whatever the
// host's umask is.
func mkdirs(top, dir string) error {
	for _, name := range split(strings.TrimPrefix(dir, top)) {
		top = filepath.Join(top, name)
		err := os.Mkdir(top, 0o755)
		if err == nil {
			err = os.Chmod(top, 0o755)
		}
		if err != nil && !os.IsExist(err) {
			return err
		}
	}
	return nil
}

// fork makes a child in the namespace. A directory that was opened outside would have no
// path there.
func (v *view) fork(sp *spawn) error {
	if v.unshared && sp.cwd != nil {
		cwd, err := sp.cwd.Again()
		if err != nil {
			return err
		}
		defer cwd.Close()
		sp.cwd = cwd
	}
	return sp.fork()
}
