package keeper

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

var errUnsupported = errors.ErrUnsupported

// A Place is the directory that keepers of a user are reached in.
type Place struct{ dir *os.File }

// Open opens the directory, and makes it where it is missing: below
// XDG_RUNTIME_DIR, or else in the user's cache.
func Open(getenv func(string) string) (*Place, error) {
	base := getenv("XDG_RUNTIME_DIR")
	// Who may write there could put a directory of their own in the place of ours.
	if !filepath.IsAbs(base) || owned(base, 0o022) != nil {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(base, 0o700); err != nil {
			return nil, err
		}
		if err := owned(base, 0o022); err != nil {
			return nil, err
		}
	}
	here, err := machine()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(base, "toolcell-keepers-"+here)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	dir := os.NewFile(uintptr(fd), path)
	info, err := dir.Stat()
	if err == nil {
		err = isOwn(path, info, 0o077)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return &Place{dir}, nil
}

// machine tells apart where processes cannot see each other, whose home may be the
// same: boots, machines and namespaces of process ids.
func machine() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	processes, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(boot, processes...))
	return hex.EncodeToString(sum[:6]), nil
}

func owned(path string, closed fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return isOwn(path, info, closed)
}

// isOwn refuses what others own, or may do what closed says with.
func isOwn(path string, info fs.FileInfo, closed fs.FileMode) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errUnsupported
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d", path, st.Uid)
	case info.Mode().Perm()&closed != 0:
		return fmt.Errorf("%s is open to others (%v)", path, info.Mode().Perm())
	}
	return nil
}

// Close closes the directory.
func (p *Place) Close() error { return p.dir.Close() }

// at is the path of a name in the directory, which is short enough for a socket
// whatever the directory's own is, and leads nowhere else.
func (p *Place) at(name string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", p.dir.Fd(), name)
}

func (p *Place) socket(key Key) string { return p.at(string(key) + ".socket") }
func lockOf(key Key) string            { return string(key) + ".lock" }

// open opens a file of the directory that leads nowhere else.
func (p *Place) open(name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(p.dir.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file := os.NewFile(uintptr(fd), name)
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err == nil {
		err = isOwn(name, info, 0o077)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// held reports whether a keeper, which may be about to start or to end, holds the
// lock.
func (p *Place) held(name string) bool {
	file, err := p.open(name, unix.O_RDWR)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// keys are those of which there is a lock.
func (p *Place) keys() (list []Key) {
	names, err := os.ReadDir(p.at("."))
	if err != nil {
		return nil
	}
	for _, n := range names {
		if key, ok := strings.CutSuffix(n.Name(), ".lock"); ok {
			list = append(list, Key(key))
		}
	}
	return list
}

// dial connects to a keeper.
func (p *Place) dial(key Key) (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: p.socket(key), Net: "unix"})
}
