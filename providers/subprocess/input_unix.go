//go:build unix

package subprocess

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// feedInput makes the run's standard input where the driver finds it: a FIFO,
// which the driver opens and removes. What input brings is copied to it once the
// driver has opened it, until its end, or until no process reads it. The
// function that it returns ends that, and waits for no Read.
func (s *session) feedInput(input io.Reader) (stdin string, end func(), err error) {
	name := ".stdin-" + rand.Text()
	path := filepath.Join(s.p.place.dir, name)
	w, err := makeFIFO(path)
	if err != nil {
		return "", func() {}, fmt.Errorf("%w: standard input cannot be handed over", codeinterp.ErrUnavailable)
	}
	return filepath.Join(s.p.inside, name), feed(input, path, w), nil
}

// makeFIFO makes a FIFO that the programs' user can read, and opens it to write.
// From then on opening it for reading does not wait. What a program has put into
// its place, such as a link to a file of the host's, stays what it is.
func makeFIFO(path string) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	// Without a reader the other end cannot be opened but by waiting.
	r, err := openReadable(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	w, err := openFIFO(path, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	ri, rerr := r.Stat()
	wi, werr := w.Stat()
	if errors.Join(rerr, werr) != nil || !os.SameFile(ri, wi) {
		w.Close()
		return nil, codeinterp.ErrSpecial
	}
	return w, nil
}

// openReadable lets the programs' user read a FIFO. Its owner stays able to
// write it, which a host that is not root needs to open it.
func openReadable(path string) (*os.File, error) {
	f, err := openFIFO(path, os.O_RDONLY)
	if err == nil {
		if err = f.Chmod(0o644); err != nil {
			f.Close()
		}
	}
	return f, err
}

// openFIFO opens an end of a FIFO without waiting for the other one, and nothing
// that is no FIFO.
func openFIFO(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Type() != os.ModeNamedPipe {
		err = codeinterp.ErrSpecial
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// feed copies input to w, the FIFO at path.
func feed(input io.Reader, path string, w *os.File) (end func()) {
	over := make(chan struct{})
	go func() {
		if awaitReader(path, over) {
			_, _ = io.Copy(struct{ io.Writer }{w}, input)
		}
		// While w is open: the FIFO has no name any more by which it could be found.
		handle := handleOf(w)
		w.Close()
		if handle != nil {
			defer handle.Close()
			admitAll(handle, over)
		}
	}()
	return func() {
		close(over)
		w.Close()
		_ = os.Remove(path) // where no driver has
	}
}

// admitAll lets programs open /dev/stdin after its input has ended, which on Linux
// opens the FIFO anew and would wait for a writer. Nothing tells that one waits.
func admitAll(handle *os.File, over <-chan struct{}) {
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		select {
		case <-over:
			return
		case <-time.After(wait):
		}
		if !admit(handle) {
			return
		}
	}
}

// awaitReader waits until a process has opened a FIFO to read, or has removed it
// after that, and reports whether it is of use still.
func awaitReader(path string, over <-chan struct{}) bool {
	for {
		w, err := openFIFO(path, os.O_WRONLY)
		if err == nil {
			w.Close()
		}
		if !errors.Is(err, syscall.ENXIO) {
			return true
		}
		select {
		case <-over:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}
