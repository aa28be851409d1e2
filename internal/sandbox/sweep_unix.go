//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/internal/sandbox/rmtree"
	"golang.org/x/sys/unix"
)

// rootPrefix begins the names of directories that hold those of TempDir.
const rootPrefix = "toolcell-sandbox-"

// lockRoot marks the root of a living host's directories: the kernel drops the
// lock with the host.
func lockRoot(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "root")
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	// A sweeper may have been faster.
	var own, named unix.Stat_t
	if unix.Fstat(fd, &own) != nil || unix.Lstat(dir, &named) != nil || own.Ino != named.Ino {
		f.Close()
		return nil, unix.ENOENT
	}
	return f, nil
}

// makeRoot makes a locked root in dir, which every user may pass through. The sweep of what
// killed hosts left goes on beside it.
func makeRoot(dir string) (path string, lock *os.File, err error) {
	go SweepTemp(dir)
	// Such as /tmp of macOS: rules and mounts are about the real path.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", nil, err
	}
	for range 100 {
		if path, err = os.MkdirTemp(dir, rootPrefix); err != nil {
			return "", nil, err
		}
		if lock, err = lockRoot(path); err == nil {
			return path, lock, os.Chmod(path, 0o711)
		}
	}
	return "", nil, err
}

// PrivateDir makes a directory in os.TempDir for what is no program's Workdir, and
// which is uid's where that is not negative. remove removes it; what a host leaves
// that was killed, a later one removes.
func PrivateDir(uid, gid int) (dir string, remove func() error, err error) {
	root, lock, err := makeRoot(os.TempDir())
	if err != nil {
		return "", nil, bare(err)
	}
	remove = func() error { defer lock.Close(); return rmtree.RemoveAll(root) }
	dir = filepath.Join(root, "private")
	if err = os.Mkdir(dir, 0o700); err == nil && uid >= 0 {
		err = os.Lchown(dir, uid, gid)
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// SweepTemp removes from an Options.TempDir what hosts of this user that were killed have
// left: roots that are not locked.
func SweepTemp(dir string) {
	list, _ := filepath.Glob(filepath.Join(dir, rootPrefix+"*"))
	for _, path := range list {
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil || int(st.Uid) != os.Geteuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		lock, err := lockRoot(path)
		if err != nil {
			continue
		}
		_ = rmtree.RemoveAll(path)
		lock.Close()
	}
}
