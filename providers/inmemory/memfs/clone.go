package memfs

import (
	"bytes"

	"github.com/toolcell/toolcell/codeinterp"
)

// Clone returns a copy of f, and a function that opens in the copy what is open in f, at
// the same place, also if it was removed. It returns nil for what is not a file of f.
func (f *FS) Clone() (*FS, func(codeinterp.File) codeinterp.File) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	copies := map[*node]*node{}
	c := &FS{&tree{opts: f.opts, files: f.files, changes: f.changes, root: f.root.clone(copies)}, f.dir}
	for _, n := range copies {
		c.bytes += n.data.size()
	}
	return c, func(file codeinterp.File) codeinterp.File {
		h, ok := file.(*handle)
		if !ok || h.f != f.tree {
			return nil
		}
		f.mu.RLock()
		n := copies[h.n]
		if n == nil { // it was removed
			n = h.n.clone(copies)
			c.bytes += n.data.size()
		}
		f.mu.RUnlock()
		return h.in(c.tree, n)
	}
}

// Reopen opens what is open in f once more, at the same place. It returns nil for what is
// not a file of f.
func (f *FS) Reopen(file codeinterp.File) codeinterp.File {
	h, ok := file.(*handle)
	if !ok || h.f != f.tree {
		return nil
	}
	return h.in(f.tree, h.n)
}

// in returns a handle of a node in a file system that is used as h is.
func (h *handle) in(f *tree, n *node) codeinterp.File {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &handle{f: f, n: n, name: h.name, flag: h.flag, at: h.at, shut: h.shut}
	if c.writes() && !c.shut {
		n.writers++
	}
	return c
}

// clone returns a copy of n and all beneath it, each of which it enters in copies.
func (n *node) clone(copies map[*node]*node) *node {
	c := *n
	c.writers, c.data = 0, bytes.Clone(n.data)
	c.children = make([]*node, len(n.children))
	for i, child := range n.children {
		c.children[i] = child.clone(copies)
	}
	copies[n] = &c
	return &c
}
