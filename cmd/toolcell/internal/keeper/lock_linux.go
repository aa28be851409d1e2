package keeper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Lock makes its holder the only keeper of a key.
type Lock struct {
	place *Place
	key   Key
	file  *os.File
	ln    *net.UnixListener

	noting sync.Mutex
	about  Note
}

// ErrKept says that there is a keeper of this key.
var ErrKept = errors.New("there is a keeper already")

// Hold takes the lock of a key, for which one that ends is waited for a moment.
func (p *Place) Hold(key Key) (*Lock, error) {
	for end := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		l, err := p.try(key)
		if !errors.Is(err, ErrKept) || time.Now().After(end) {
			return l, err
		}
	}
}

func (p *Place) try(key Key) (*Lock, error) {
	file, err := p.open(lockOf(key), unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		// The one before may have removed it in the meantime.
		if there, gone := p.open(lockOf(key), unix.O_RDWR); gone == nil {
			defer there.Close()
			if same(file, there) {
				return &Lock{place: p, key: key, file: file}, nil
			}
		}
	}
	file.Close()
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		return nil, err
	}
	return nil, ErrKept
}

func same(a, b *os.File) bool {
	one, err := a.Stat()
	if err != nil {
		return false
	}
	other, err := b.Stat()
	return err == nil && os.SameFile(one, other)
}

// listen makes the socket, in the place of one that a crashed keeper has left.
func (l *Lock) listen() (err error) {
	path := l.place.socket(l.key)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	if l.ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
		return err
	}
	// By then another keeper's may have its path: Drop looks.
	l.ln.SetUnlinkOnClose(false)
	return os.Chmod(path, 0o600)
}

// there fails where the directory is another one by now, or the lock is gone.
func (l *Lock) there() error {
	file, err := l.place.open(lockOf(l.key), unix.O_RDWR)
	if err != nil {
		return err
	}
	defer file.Close()
	if !same(file, l.file) {
		return fmt.Errorf("%s is another one", file.Name())
	}
	return nil
}

// Drop removes what the keeper has here.
func (l *Lock) Drop() {
	if l.ln != nil {
		l.ln.Close()
	}
	if l.there() == nil {
		_ = os.Remove(l.place.socket(l.key))
		_ = os.Remove(l.place.at(lockOf(l.key)))
	}
	l.file.Close()
}

// Sweep removes what keepers have left that were killed, and counts the others.
func (p *Place) Sweep(but Key) (others int) {
	for _, key := range p.keys() {
		if key == but {
			continue
		}
		if l, err := p.try(key); err == nil {
			l.Drop()
		} else if errors.Is(err, ErrKept) {
			others++
		}
	}
	return others
}
