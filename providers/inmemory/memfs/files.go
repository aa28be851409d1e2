package memfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

const knownFlags = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_TRUNC

// OpenFile implements codeinterp.FS.
func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (codeinterp.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.openNode(name, flag)
	if err != nil {
		return nil, err
	}
	h := &handle{f: f.tree, n: n, name: name, flag: flag}
	if flag&os.O_TRUNC != 0 && h.writes() {
		if err := n.data.truncate(0, f.grow); err != nil {
			return nil, h.fail("open", err)
		}
		// One that is created and not written to has changed as well.
		f.touch(n)
	}
	if h.writes() {
		n.writers++
	}
	return h, nil
}

// openNode finds or creates a file. f is locked.
func (f *FS) openNode(name string, flag int) (*node, error) {
	if flag&^knownFlags != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if flag&os.O_CREATE == 0 || name == "." {
		n, err := f.find("open", name)
		if err == nil && n.dir {
			err = &fs.PathError{Op: "open", Path: name, Err: ErrIsDir}
		}
		return n, err
	}
	dir, base, err := f.parent("open", name)
	if err != nil {
		return nil, err
	}
	n := dir.child(base)
	switch {
	case n == nil:
		n = newFile(base)
		f.touch(n)
		return n, f.add("open", name, dir, n)
	case flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case n.dir:
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrIsDir}
	}
	return n, nil
}

// touch notes that a node was changed. f is locked.
func (f *tree) touch(n *node) {
	f.changes++
	n.changed, n.modified = f.changes, time.Now()
}

// A handle is a file that is open. What is written to it is there at once, for
// every other handle and for programs.
type handle struct {
	f    *tree
	n    *node
	name string
	flag int
	at   int64
	shut bool
}

func (h *handle) writes() bool { return h.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

func (h *handle) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: h.name, Err: err}
}

func (h *handle) Stat() (fs.FileInfo, error) {
	h.f.mu.RLock()
	defer h.f.mu.RUnlock()
	if h.shut {
		return nil, h.fail("stat", fs.ErrClosed)
	}
	return h.n.info(path.Base(h.name)), nil
}

func (h *handle) Read(p []byte) (int, error) {
	n, err := h.read(p, h.at)
	h.at += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	n, err := h.read(p, off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (h *handle) read(p []byte, off int64) (int, error) {
	h.f.mu.RLock()
	defer h.f.mu.RUnlock()
	switch {
	case h.shut:
		return 0, h.fail("read", fs.ErrClosed)
	case h.flag&os.O_WRONLY != 0:
		return 0, h.fail("read", fs.ErrPermission)
	case off < 0:
		return 0, h.fail("read", fs.ErrInvalid)
	case len(p) > 0 && off >= h.n.data.size():
		return 0, io.EOF
	}
	return copy(p, h.n.data[min(off, h.n.data.size()):]), nil
}

// Write writes all of p or nothing.
func (h *handle) Write(p []byte) (int, error) {
	return h.change("write", func() error {
		if h.flag&os.O_APPEND != 0 {
			h.at = h.n.data.size()
		}
		err := h.n.data.writeAt(p, h.at, h.f.grow)
		if err == nil {
			h.at += int64(len(p))
		}
		return err
	}, len(p))
}

// WriteAt implements io.WriterAt: it writes all of p or nothing.
func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	return h.change("write", func() error {
		if off < 0 {
			return fs.ErrInvalid
		}
		return h.n.data.writeAt(p, off, h.f.grow)
	}, len(p))
}

// Truncate cuts the file, or fills it up with zeros, to size bytes.
func (h *handle) Truncate(size int64) error {
	_, err := h.change("truncate", func() error { return h.n.data.truncate(size, h.f.grow) }, 0)
	return err
}

// change changes the content. It returns n, or the error of the change.
func (h *handle) change(op string, change func() error, n int) (int, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	switch {
	case h.shut:
		return 0, h.fail(op, fs.ErrClosed)
	case !h.writes():
		return 0, h.fail(op, fs.ErrPermission)
	}
	if err := change(); err != nil {
		return 0, h.fail(op, err)
	}
	h.f.touch(h.n)
	return n, nil
}

func (h *handle) Seek(offset int64, whence int) (int64, error) {
	h.f.mu.RLock()
	defer h.f.mu.RUnlock()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += h.at
	case io.SeekEnd:
		offset += h.n.data.size()
	default:
		return 0, h.fail("seek", fs.ErrInvalid)
	}
	switch {
	case h.shut:
		return 0, h.fail("seek", fs.ErrClosed)
	case offset < 0:
		return 0, h.fail("seek", fs.ErrInvalid)
	}
	h.at = offset
	return offset, nil
}

func (h *handle) Close() error {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if h.shut {
		return h.fail("close", fs.ErrClosed)
	}
	h.shut = true
	if h.writes() {
		if h.n.writers--; h.n.gone && h.n.writers == 0 {
			h.f.bytes -= h.n.data.size()
		}
	}
	return nil
}

// Changes returns a number that grows with each change.
func (f *FS) Changes() int64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.changes
}

// ChangedSince returns the names, sorted and relative to a directory, of the
// files in it that were created, changed or given another name since Changes
// returned since.
func (f *FS) ChangedSince(dir string, since int64) []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.changes == since {
		return nil
	}
	n, err := f.find("walk", dir)
	if err != nil {
		return nil
	}
	list := n.changedSince(since, "", nil)
	slices.Sort(list)
	return list
}

func (n *node) changedSince(since int64, prefix string, list []string) []string {
	for _, c := range n.children {
		switch {
		case c.dir:
			list = c.changedSince(since, prefix+c.name+"/", list)
		case c.changed > since:
			list = append(list, prefix+c.name)
		}
	}
	return list
}

// mark notes that a node and all beneath it have another name.
func (f *tree) mark(n *node) {
	f.changes++
	n.changed = f.changes
	for _, c := range n.children {
		f.mark(c)
	}
}

// drop gives back what a node and all beneath it take: they are gone. The bytes of a file
// that is open for writing count until it is closed.
func (f *tree) drop(n *node) {
	n.gone = true
	if n.writers == 0 {
		f.bytes -= n.data.size()
	}
	f.files--
	for _, c := range n.children {
		f.drop(c)
	}
}
