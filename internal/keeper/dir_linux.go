package keeper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
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

// An address is that of a socket, however long its path is. It is open meanwhile.
type address struct {
	*net.UnixAddr
	*os.File
}

func (d Dir) address(key string) (address, error) {
	dir, err := os.Open(string(d))
	if err != nil {
		return address{}, err
	}
	name := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(d.socket(key)))
	return address{&net.UnixAddr{Name: name, Net: "unix"}, dir}, nil
}

func (d Dir) socket(key string) string { return filepath.Join(string(d), key+".socket") }
func (d Dir) lock(key string) string   { return filepath.Join(string(d), key+".lock") }

// acquire locks the directory for a change of its keys.
func (d Dir) acquire() (unlock func(), err error) {
	dir, err := os.Open(string(d))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		dir.Close()
		return nil, err
	}
	return func() { dir.Close() }, nil
}

// Dial connects to the keeper of a key. The error is ErrNone if none listens.
func (d Dir) Dial(key string) (*net.UnixConn, error) {
	addr, err := d.address(key)
	if err != nil {
		return nil, err
	}
	defer addr.Close()
	conn, err := net.DialUnix("unix", nil, addr.UnixAddr)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return nil, ErrNone
	}
	if err == nil && peer(conn).Uid != uint32(os.Geteuid()) {
		conn.Close()
		return nil, fmt.Errorf("another user listens at %s", d.socket(key))
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

// PID returns the process id of the keeper at the other end of a connection.
func PID(conn *net.UnixConn) int { return int(peer(conn).Pid) }

// A Keeper is a keeper that listens.
type Keeper struct {
	PID   int
	Since time.Time
	Lease time.Duration // while nothing uses it
}

// Keepers returns the keepers whose keys match a pattern of [filepath.Match]. It removes
// what those left that were killed.
func (d Dir) Keepers(pattern string) (list []Keeper) {
	locks, _ := filepath.Glob(d.lock(pattern))
	for _, path := range locks {
		key := strings.TrimSuffix(filepath.Base(path), ".lock")
		if conn, err := d.Dial(key); err == nil {
			k := Keeper{PID: PID(conn)}
			conn.Close()
			if info, err := os.Stat(d.socket(key)); err == nil {
				k.Since = info.ModTime()
			}
			text, _ := os.ReadFile(path)
			k.Lease, _ = time.ParseDuration(string(text))
			list = append(list, k)
		} else {
			d.sweep(key)
		}
	}
	return list
}

// sweep removes what a keeper left that was killed. One that starts meanwhile keeps its key.
func (d Dir) sweep(key string) {
	unlock, err := d.acquire()
	if err != nil {
		return
	}
	defer unlock()
	if c, err := d.claim(key); err == nil {
		c.remove()
	}
}
