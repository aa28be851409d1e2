package memfs

import (
	"io/fs"
	"time"
)

// Chmod sets the permissions that Stat tells. Nothing else looks at them.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.describe("chmod", name, func(n *node) { n.mode, n.moded = mode.Perm(), true })
}

// Chtimes sets when a file or directory was last changed.
func (f *FS) Chtimes(name string, modified time.Time) error {
	return f.describe("utime", name, func(n *node) { n.modified = modified })
}

func (f *FS) describe(op, name string, change func(*node)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(op, name)
	if err == nil {
		change(n)
	}
	return err
}
