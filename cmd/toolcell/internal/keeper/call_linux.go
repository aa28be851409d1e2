package keeper

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
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

// dial connects to a keeper. The error is ErrNone if none listens.
func dial(socket string) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		err = ErrNone
	}
	return conn, err
}

func (d Dir) socket(key string) string { return filepath.Join(string(d), key+".socket") }

// Keepers returns the process ids of the keepers.
func (d Dir) Keepers() (pids []int) {
	sockets, _ := filepath.Glob(d.socket("*"))
	for _, path := range sockets {
		conn, err := dial(path)
		if err != nil {
			continue // a keeper that was killed left it
		}
		if raw, err := conn.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				if c, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
					pids = append(pids, int(c.Pid))
				}
			})
		}
		conn.Close()
	}
	return pids
}

// A Call is an order that a keeper has accepted and not begun.
type Call struct{ conn *net.UnixConn }

// Call passes an order to the keeper of a key. If it fails nothing has begun.
func (d Dir) Call(key string, o *Order, files Files) (*Call, error) {
	conn, err := dial(d.socket(key))
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(handshake))
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	_, _, err = conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil)
	if err == nil {
		err = gob.NewEncoder(conn).Encode(o)
	}
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return &Call{conn}, conn.SetDeadline(time.Time{})
}

// Run begins the call and returns its exit code. When ctx ends the call is canceled, and
// Run waits for its end. The error is ErrBusy if nothing has begun, otherwise ErrLost.
func (c *Call) Run(ctx context.Context) (int, error) {
	defer c.conn.Close()
	b := make([]byte, 1)
	if _, err := c.conn.Write(b); err != nil {
		return 0, ErrBusy
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.CloseWrite() })()
	if _, err := io.ReadFull(c.conn, b); err != nil {
		return 0, ErrLost
	}
	return int(b[0]), nil
}
