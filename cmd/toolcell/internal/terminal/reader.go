// Package terminal reads lines and bytes from a terminal.
package terminal

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/muesli/cancelreader"
)

// Supported reports whether there are readers on this system.
const Supported = runtime.GOOS != "windows"

// A Reader reads from a file, such as a terminal, until it is closed. It leaves the file
// open.
type Reader struct {
	*os.File
	in   cancelreader.CancelReader
	stop func() bool

	mu sync.Mutex // locked by a Read
}

// NewReader returns a reader of a file. It is nil if there are no descriptors left.
func NewReader(file *os.File) *Reader {
	in, err := cancelreader.NewReader(file)
	if err != nil { // there is no waiting for such a file
		in, err = cancelreader.NewReader(struct{ io.Reader }{file})
	}
	if err != nil {
		return nil
	}
	return &Reader{File: file, in: in, stop: sync.OnceValue(in.Cancel)}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := r.in.Read(p)
	if errors.Is(err, cancelreader.ErrCanceled) {
		err = io.ErrClosedPipe
	}
	return n, err
}

// Close implements io.Closer. It waits for a Read in progress.
func (r *Reader) Close() error {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in.Close()
}
