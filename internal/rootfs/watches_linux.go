package rootfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxWatched = 1 << 16 // directories of all trees, each of which the kernel keeps in memory
	maxTree    = 1 << 14 // directories of one tree

	// readPause is how long events are left to gather. The kernel makes one of
	// those that are alike.
	readPause = 5 * time.Millisecond
)

// events are what a directory is watched for. Nothing tells of a write through a
// mapping, so that files are of interest from when they are opened.
const events = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_OPEN | unix.IN_CLOSE_WRITE

// Watches tell which files of directories may have changed, so that nobody has to
// look at all of them. They serve any number of FSs with one inotify instance,
// and are safe for concurrent use. Where there can be none, FSs do without.
type Watches struct {
	mu     sync.Mutex // guards what follows, and what each tree says
	file   *os.File   // nil before the first watch
	fd     int        // of file
	closed bool
	owner  map[int32]*node
	wds    map[*node]int32
	trees  map[treeID]*tree
	buf    []byte

	stop    chan struct{}
	readers sync.WaitGroup
}

// NewWatches returns Watches that use nothing of the system's yet.
func NewWatches() *Watches {
	return &Watches{
		owner: map[int32]*node{}, wds: map[*node]int32{}, trees: map[treeID]*tree{},
		buf: make([]byte, 1<<16), stop: make(chan struct{}),
	}
}

// Close ends all watching. FSs that are still open do without.
func (w *Watches) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	close(w.stop)
	for id, t := range w.trees {
		t.stopWatching()
		t.fs.root.Close()
		delete(w.trees, id)
	}
	var err error
	if w.file != nil {
		err = w.file.Close()
	}
	w.mu.Unlock()
	// Without mu, which a reader takes before it sees stop.
	w.readers.Wait()
	return err
}

var errUnwatched = errors.New("rootfs: a directory that cannot be watched")

// add watches an open directory.
func (w *Watches) add(n *node, dir *os.File) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := n.tree
	if err := w.open(); err != nil {
		return err
	}
	if t.lost || t.dirs >= maxTree || len(w.owner) >= maxWatched {
		return errUnwatched
	}
	// By descriptor: the name may be something else's by now. IN_MASK_CREATE
	// refuses a directory that is watched already, under another name or by
	// another tree.
	name := "/proc/self/fd/" + strconv.Itoa(int(dir.Fd()))
	wd, err := unix.InotifyAddWatch(w.fd, name, events|unix.IN_ONLYDIR|unix.IN_MASK_CREATE)
	if err != nil {
		return err
	}
	w.owner[int32(wd)], w.wds[n] = n, int32(wd)
	t.dirs++
	return nil
}

// open makes sure of the inotify instance.
func (w *Watches) open() error {
	if w.closed {
		return os.ErrClosed
	}
	if w.file != nil {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	w.fd, w.file = fd, os.NewFile(uintptr(fd), "inotify")
	conn, err := w.file.SyscallConn()
	if err != nil {
		w.file.Close()
		w.file = nil
		return err
	}
	w.readers.Go(func() {
		for conn.Read(func(fd uintptr) bool { return waiting(int(fd)) > 0 }) == nil {
			select {
			case <-w.stop:
				return
			case <-time.After(readPause):
			}
			w.mu.Lock()
			w.drain()
			w.mu.Unlock()
		}
	})
	return nil
}

// remove ends the watch of a directory, if there is one.
func (w *Watches) remove(n *node) {
	if wd, ok := w.wds[n]; ok {
		delete(w.wds, n)
		delete(w.owner, wd)
		n.tree.dirs--
		// It fails where the directory is gone, and the watch with it.
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
	}
}

// waiting is how many bytes of events can be read.
func waiting(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// drain takes in the events of all that has happened so far.
func (w *Watches) drain() {
	if w.file == nil || w.closed {
		return
	}
	// Not to the end, which somebody who writes all the time puts off.
	for left := waiting(w.fd); left > 0; {
		n, err := unix.Read(w.fd, w.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		left -= n
		w.dispatch(w.buf[:n])
	}
}

// dispatch hands events to the trees.
func (w *Watches) dispatch(b []byte) {
	now := time.Now()
	for len(b) >= unix.SizeofInotifyEvent {
		wd, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
		cookie, size := binary.NativeEndian.Uint32(b[8:]), int(binary.NativeEndian.Uint32(b[12:]))
		name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], []byte{0})
		b = b[unix.SizeofInotifyEvent+size:]
		// Events of any directory may be among those that were dropped.
		if mask&unix.IN_Q_OVERFLOW != 0 {
			for _, t := range w.trees {
				t.stopWatching()
			}
			continue
		}
		if n := w.owner[wd]; n != nil {
			n.tree.note(event{n, mask, cookie, string(name)}, now)
		}
	}
}
