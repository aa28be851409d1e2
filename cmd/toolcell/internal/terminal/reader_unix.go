//go:build unix

// Package terminal reads lines and bytes from a terminal.
package terminal

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Supported reports whether there are readers on this system.
const Supported = true

// NewReader returns a reader of a file, such as a terminal, that reads nothing once it
// is closed. It leaves the file open. It is nil if there are no descriptors left.
func NewReader(file *os.File) *Reader {
	wait, wake, err := os.Pipe()
	if err != nil {
		return nil
	}
	return &Reader{File: file, fd: int(file.Fd()), wait: wait, wake: wake}
}

// A Reader reads from a file until it is closed.
type Reader struct {
	*os.File
	fd    int
	wake  *os.File
	close sync.Once

	mu   sync.Mutex // locked by a Read
	wait *os.File   // nil once it is closed
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.wait == nil {
			return 0, io.ErrClosedPipe
		}
		fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}, {Fd: int32(r.wait.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case fds[1].Revents != 0:
			return 0, io.ErrClosedPipe
		}
		n, err := unix.Read(r.fd, p)
		if n == 0 && err == nil {
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}

// Close implements io.Closer. It waits for a Read in progress.
func (r *Reader) Close() error {
	r.close.Do(func() {
		_ = r.wake.Close() // which wakes the Read
		r.mu.Lock()
		defer r.mu.Unlock()
		_ = r.wait.Close()
		r.wait = nil
	})
	return nil
}
