package keeper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Dir is the directory that holds the sockets of a user's keepers.
type Dir struct{ file *os.File }

// Open opens the directory, which is below XDG_RUNTIME_DIR or otherwise in the user's
// cache, and makes it if it is missing. A directory that another user owns or can enter
// is an error.
func Open(getenv func(string) string) (*Dir, error) {
	base := getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(base) {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(base, "toolcell-keepers")
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		file.Close()
		return nil, fmt.Errorf("%s is not private to this user", path)
	}
	return &Dir{file}, nil
}

// Close closes the directory.
func (d *Dir) Close() error { return d.file.Close() }

const suffix = ".socket"

// socket returns a path that is short enough for a socket.
func (d *Dir) socket(key string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s%s", d.file.Fd(), key, suffix)
}

// Keys returns the keys of the keepers, and removes sockets that killed keepers left.
func (d *Dir) Keys() (keys []string) {
	names, _ := os.ReadDir(d.file.Name())
	for _, n := range names {
		key, ok := strings.CutSuffix(n.Name(), suffix)
		if !ok {
			continue
		}
		conn, err := d.dial(key)
		if err == nil {
			conn.Close()
			keys = append(keys, key)
		} else if errors.Is(err, ErrNone) {
			_ = os.Remove(d.socket(key))
		}
	}
	return keys
}

// dial connects to a keeper of this user. The error is ErrNone if none listens.
func (d *Dir) dial(key string) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: d.socket(key), Net: "unix"})
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return nil, ErrNone
	}
	if err == nil {
		if err = samePeer(conn); err != nil {
			conn.Close()
		}
	}
	return conn, err
}

// samePeer refuses a peer of another user.
func samePeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, failed); err == nil && int(cred.Uid) != os.Geteuid() {
		err = fmt.Errorf("the peer is user %d", cred.Uid)
	}
	return err
}

// Listen makes the socket of a key, of which there is one keeper. It fails if the user
// has most keepers already.
func (d *Dir) Listen(key string, most int) (*Listener, error) {
	if err := unix.Flock(int(d.file.Fd()), unix.LOCK_EX); err != nil {
		return nil, err
	}
	defer func() { _ = unix.Flock(int(d.file.Fd()), unix.LOCK_UN) }()
	keys := d.Keys()
	switch {
	case slices.Contains(keys, key):
		return nil, ErrExists
	case len(keys) >= most:
		return nil, fmt.Errorf("there are %d keepers already; toolcell keep stop ends them", len(keys))
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.socket(key), Net: "unix"})
	if err != nil {
		return nil, err
	}
	return &Listener{ln}, nil
}
