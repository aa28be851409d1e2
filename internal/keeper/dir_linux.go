package keeper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Dir is the path of a directory that holds the sockets of a user's keepers.
type Dir string

// Open returns the directory, which is below XDG_RUNTIME_DIR or otherwise in the user's
// cache, and makes it if it is missing. A directory that another user owns or can enter
// is an error.
func Open(getenv func(string) string) (Dir, error) {
	base := getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(base) {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	path := filepath.Join(base, "toolcell-keepers")
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil || st.Mode&(unix.S_IFMT|0o077) != unix.S_IFDIR || int(st.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is not a directory private to this user", path)
	}
	return Dir(path), nil
}

const suffix = ".socket"

// in calls f with a lock of the directory and its path, which is a short one.
func (d Dir) in(lock int, f func(path string) error) error {
	dir, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), lock); err != nil {
		return err
	}
	return f(fmt.Sprintf("/proc/self/fd/%d/", dir.Fd()))
}

// Dial connects to the keeper of a key. The error is ErrNone if none listens.
func (d Dir) Dial(key string) (conn *net.UnixConn, err error) {
	err = d.in(unix.LOCK_UN, func(path string) error {
		conn, err = dial(path + key + suffix)
		return err
	})
	return conn, err
}

func dial(path string) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return nil, ErrNone
	}
	if err == nil && peer(conn).Uid != uint32(os.Geteuid()) {
		conn.Close()
		return nil, errors.New("another user listens there")
	}
	return conn, err
}

// peer returns who is at the other end of a connection.
func peer(conn *net.UnixConn) (c unix.Ucred) {
	c.Uid = ^uint32(0)
	raw, err := conn.SyscallConn()
	if err != nil {
		return c
	}
	_ = raw.Control(func(fd uintptr) {
		if got, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			c = *got
		}
	})
	return c
}

// Listen makes this process the keeper of a key. The error is ErrTaken if another one still
// has it after a time, in which one that was killed lets go of it.
func (d Dir) Listen(key string, wait time.Duration) (ln *net.UnixListener, err error) {
	for end := time.Now().Add(wait); ; time.Sleep(time.Millisecond) {
		err = d.in(unix.LOCK_EX, func(path string) error {
			path += key + suffix
			if conn, err := dial(path); err != ErrNone {
				if err == nil {
					conn.Close()
				}
				return ErrTaken
			}
			_ = os.Remove(path) // of one that was killed
			if ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err == nil {
				ln.SetUnlinkOnClose(false) // Keepers does
			}
			return err
		})
		if err != ErrTaken || time.Now().After(end) {
			return ln, err
		}
	}
}

// Keepers returns the process ids of the keepers whose keys match a pattern of
// [filepath.Match]. It removes what others left that have ended.
func (d Dir) Keepers(pattern string) (ids []int) {
	_ = d.in(unix.LOCK_EX, func(path string) error {
		sockets, err := filepath.Glob(path + pattern + suffix)
		for _, s := range sockets {
			conn, err := dial(s)
			switch err {
			case nil:
				ids = append(ids, int(peer(conn).Pid))
				conn.Close()
			case ErrNone: // one that starts has the lock
				_ = os.Remove(s)
			}
		}
		return err
	})
	return ids
}
