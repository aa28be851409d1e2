//go:build unix

package main

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// openTyped returns a reader of what is typed that takes nothing once it is
// closed, nil where there is none.
func openTyped(terminal *os.File) io.ReadCloser {
	wait, wake, err := os.Pipe()
	if err != nil {
		return nil
	}
	return &typedReader{terminal: int(terminal.Fd()), wait: wait, wake: wake}
}

type typedReader struct {
	terminal int
	wake     *os.File
	close    sync.Once

	mu   sync.Mutex // held by a Read
	wait *os.File   // nil once it is closed
}

// Read implements io.Reader.
func (r *typedReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.wait == nil {
			return 0, io.ErrClosedPipe
		}
		fds := []unix.PollFd{{Fd: int32(r.terminal), Events: unix.POLLIN}, {Fd: int32(r.wait.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case fds[1].Revents != 0:
			return 0, io.ErrClosedPipe
		}
		n, err := unix.Read(r.terminal, p)
		if n == 0 && err == nil {
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}

// Close implements io.Closer. It waits for a Read in progress, which would take
// what is typed for the editor.
func (r *typedReader) Close() error {
	r.close.Do(func() {
		_ = r.wake.Close() // which wakes the Read
		r.mu.Lock()
		defer r.mu.Unlock()
		_ = r.wait.Close()
		r.wait = nil
	})
	return nil
}
