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

// fifo makes the run's standard input where the driver finds it: a FIFO, which
// the driver opens and removes.
func (s *session) fifo() (string, error) {
	name := ".stdin-" + rand.Text()
	path := filepath.Join(s.p.place.dir, name)
	if errors.Join(syscall.Mkfifo(path, 0o600), readable(path)) != nil {
		return "", fmt.Errorf("%w: standard input cannot be handed over", codeinterp.ErrUnavailable)
	}
	return filepath.Join(s.p.inside, name), nil
}

// readable lets the programs' user read a FIFO. What a program has put into its
// place, such as a link to a file of the host's, stays what it is.
func readable(path string) error {
	// O_NONBLOCK: to open a FIFO waits for its other end else, see fifo(7).
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Mode().Type() != os.ModeNamedPipe {
		err = codeinterp.ErrSpecial
	}
	if err != nil {
		return err
	}
	return f.Chmod(0o444)
}

// feed copies the input to the FIFO once the driver has opened it, until the
// input's end, or until nobody reads it any more. The function that it returns
// ends that, and waits for no Read.
func feed(input io.Reader, path string) (end func()) {
	over, opened := make(chan struct{}), make(chan struct{})
	var w *os.File
	go func() {
		w = openFIFO(path, over)
		close(opened)
		if w != nil {
			_, _ = io.Copy(struct{ io.Writer }{w}, input)
			w.Close()
		}
	}()
	return func() {
		close(over)
		<-opened
		if w != nil {
			w.Close()
		}
		_ = os.Remove(path) // where no driver has
	}
}

// openFIFO opens the end to write to of a FIFO that somebody has opened to read.
// It returns nil once that is of no use any more. What a program has put into
// its place is not written to.
func openFIFO(path string, over <-chan struct{}) *os.File {
	for {
		w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		if err == nil {
			if info, err := w.Stat(); err == nil && info.Mode().Type() == os.ModeNamedPipe {
				return w
			}
			w.Close()
			return nil
		}
		// ENXIO: nobody has opened it to read so far.
		if !errors.Is(err, syscall.ENXIO) {
			return nil
		}
		select {
		case <-over:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}
