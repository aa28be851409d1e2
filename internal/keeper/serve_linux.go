package keeper

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// A Claim is the right to be the keeper of a key.
type Claim struct {
	dir  Dir
	key  string
	lock *os.File
}

// Claim claims a key. The error is ErrTaken if a keeper still has it after a time, in which
// one that was killed lets go of it.
func (d Dir) Claim(key string, wait time.Duration) (*Claim, error) {
	for end := time.Now().Add(wait); ; time.Sleep(time.Millisecond) {
		unlock, err := d.acquire()
		if err != nil {
			return nil, err
		}
		c, err := d.claim(key)
		unlock()
		if err != ErrTaken || time.Now().After(end) {
			return c, err
		}
	}
}

func (d Dir) claim(key string) (*Claim, error) {
	lock, err := os.OpenFile(d.lock(key), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		lock.Close()
		return nil, ErrTaken
	}
	return &Claim{d, key, lock}, nil
}

// Listen makes the keeper known, with its lease.
func (c *Claim) Listen(lease time.Duration) (*net.UnixListener, error) {
	c.SetLease(lease)
	_ = os.Remove(c.dir.socket(c.key)) // of one that was killed
	addr, err := c.dir.address(c.key)
	if err != nil {
		return nil, err
	}
	defer addr.Close()
	ln, err := net.ListenUnix("unix", addr.UnixAddr)
	if err == nil {
		ln.SetUnlinkOnClose(false) // Close does
	}
	return ln, err
}

// SetLease says how long the keeper stays while nothing uses it.
func (c *Claim) SetLease(d time.Duration) {
	if c.lock.Truncate(0) == nil {
		_, _ = c.lock.WriteAt([]byte(d.String()), 0)
	}
}

// Close gives the key back.
func (c *Claim) Close() {
	if unlock, err := c.dir.acquire(); err == nil {
		defer unlock()
	}
	c.remove()
}

func (c *Claim) remove() {
	_ = os.Remove(c.dir.socket(c.key))
	_ = os.Remove(c.dir.lock(c.key))
	c.lock.Close()
}

// Accept is AcceptUnix for connections of this process's user.
func Accept(ln *net.UnixListener) (*net.UnixConn, error) {
	for {
		conn, err := ln.AcceptUnix()
		if err != nil || peer(conn).Uid == uint32(os.Geteuid()) {
			return conn, err
		}
		conn.Close()
	}
}

// Start starts a keeper in a session of its own and does not wait for it.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	open, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range open { // pipes of the caller's must not stay open in the keeper
		if n, err := strconv.Atoi(fd.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
	return cmd.Start()
}

// EndWithin ends this process after d, with all that it started, whatever keeps it.
func EndWithin(d time.Duration) {
	time.AfterFunc(d, func() {
		for range 100 { // those that are started meanwhile too
			list, _ := procfs.Descendants()
			if len(list) == 0 {
				break
			}
			for _, p := range list {
				_ = syscall.Kill(p.PID, syscall.SIGKILL)
			}
			time.Sleep(5 * time.Millisecond)
		}
		os.Exit(1)
	})
}
