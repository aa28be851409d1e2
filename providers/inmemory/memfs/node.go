package memfs

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fsentry"
)

// What can be wrong with a name beside fs.ErrNotExist, fs.ErrExist and
// fs.ErrInvalid.
var (
	ErrIsDir    = codeinterp.ErrIsDir
	ErrNotDir   = codeinterp.ErrNotDir
	ErrNotEmpty = codeinterp.ErrNotEmpty
)

// A node is a file or a directory.
type node struct {
	name     string
	dir      bool
	modified time.Time
	mode     fs.FileMode // its permissions
	changed  int64       // the number of its last change
	gone     bool        // it was removed
	writers  int         // handles that may write to it
	data     content
	children []*node // sorted by name
}

func newFile(name string) *node { return &node{name: name, mode: 0o644, modified: time.Now()} }

func newDirectory(name string) *node {
	return &node{name: name, dir: true, mode: 0o755, modified: time.Now()}
}

// index returns where the child of a name is, or belongs.
func (n *node) index(name string) (int, bool) {
	return slices.BinarySearchFunc(n.children, name, func(c *node, s string) int { return strings.Compare(c.name, s) })
}

func (n *node) child(name string) *node {
	if i, ok := n.index(name); ok {
		return n.children[i]
	}
	return nil
}

func (n *node) insert(c *node) {
	i, _ := n.index(c.name)
	n.children = slices.Insert(n.children, i, c)
}

// remove takes a child out.
func (n *node) remove(c *node) {
	i, _ := n.index(c.name)
	n.children = slices.Delete(n.children, i, i+1)
	n.modified = time.Now()
}

// fits reports whether n may have the name: what is in it gets longer names too.
func (n *node) fits(name string) bool {
	depth, bytes := n.reach()
	return strings.Count(name, "/")+depth < maxDepth && len(name)+bytes <= maxPath
}

// reach returns how many levels there are below n, and the bytes of the longest
// name there, relative to n and with its slash.
func (n *node) reach() (depth, bytes int) {
	for _, c := range n.children {
		d, b := c.reach()
		depth, bytes = max(depth, d+1), max(bytes, b+len(c.name)+1)
	}
	return depth, bytes
}

func (n *node) info(name string) fs.FileInfo {
	mode := n.mode
	if n.dir {
		mode |= fs.ModeDir
	}
	return fsentry.Info(name, n.data.size(), mode, n.modified)
}

func (n *node) entries() []fs.DirEntry {
	list := make([]fs.DirEntry, len(n.children))
	for i, c := range n.children {
		list[i] = fs.FileInfoToDirEntry(c.info(c.name))
	}
	return list
}

// find returns the node of a name.
func (f *FS) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n, full := f.root, f.full(name)
	if full == "." {
		return n, nil
	}
	for part := range strings.SplitSeq(full, "/") {
		if !n.dir {
			return nil, &fs.PathError{Op: op, Path: name, Err: ErrNotDir}
		}
		if n = n.child(part); n == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
	}
	return n, nil
}

// parent returns the directory that holds, or would hold, a name.
func (f *FS) parent(op, name string) (*node, string, error) {
	dir, base := ".", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i], name[i+1:]
	}
	// Only the last part is looked at: those above it passed here as they were made.
	full := f.full(name)
	if name == "." || !fs.ValidPath(name) || len(base) > maxName || len(full) > maxPath ||
		strings.Count(full, "/") >= maxDepth || strings.IndexByte(base, 0) >= 0 {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n, err := f.find(op, dir)
	if err == nil && !n.dir {
		err = &fs.PathError{Op: op, Path: name, Err: ErrNotDir}
	}
	return n, base, err
}

func (f *tree) add(op, name string, dir, n *node) error {
	if f.files >= f.opts.MaxFiles {
		return &fs.PathError{Op: op, Path: name, Err: ErrQuota}
	}
	f.files++
	dir.insert(n)
	dir.modified = n.modified
	return nil
}

// write finds or creates a file and changes it.
func (f *FS) write(name string, change func(*node) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.openNode(name, os.O_CREATE)
	if err != nil {
		return err
	}
	if err := change(n); err != nil {
		return &fs.PathError{Op: "write", Path: name, Err: err}
	}
	f.touch(n)
	return nil
}

// grow accounts for n more bytes, fewer where n is negative.
func (f *tree) grow(n int64) error {
	// No sum with n: a program's size near the largest int64 would wrap it.
	if n > 0 && n > f.opts.MaxBytes-f.bytes {
		return ErrQuota
	}
	f.bytes += n
	return nil
}
