//go:build unix

package rootfs

import (
	"path"
	"slices"
	"strings"
)

// A node is a directory that is watched.
type node struct {
	tree *tree
	top  bool // the tree's own directory
	up   *node
	name string
	ino  uint64
	kids map[string]*node // the directories in it

	born, moved int64 // the events before it was found, and before it got its name
	gone        bool
}

// path returns where the directory is now, as far as events tell.
func (n *node) path() (string, bool) {
	var names []string
	for ; !n.gone && !n.top; n = n.up {
		names = append(names, n.name)
	}
	slices.Reverse(names)
	return path.Clean(strings.Join(names, "/")), !n.gone
}

// level is how deep the directory is, 1 for the tree's own.
func (n *node) level() int {
	level := 1
	for ; !n.gone && !n.top; n = n.up {
		level++
	}
	return level
}

// within reports whether the directory and what is beneath it has so many levels
// at most.
func (n *node) within(levels int) bool {
	for _, kid := range n.kids {
		if levels == 1 || !kid.within(levels-1) {
			return false
		}
	}
	return true
}

// put makes the directory a kid of up.
func (n *node) put(up *node, name string) {
	n.up, n.name = up, name
	if up.kids == nil {
		up.kids = map[string]*node{}
	}
	up.kids[name] = n
}

// drop takes the directory out of the tree, with all beneath it.
func (n *node) drop() {
	if n.up != nil && n.up.kids[n.name] == n {
		delete(n.up.kids, n.name)
	}
	n.each(func(n *node) { n.gone = true })
}

// each calls f for the directory and all beneath it.
func (n *node) each(f func(*node)) {
	f(n)
	for _, kid := range n.kids {
		kid.each(f)
	}
}

// find returns the directory of a path, nil if it is unknown, and the last name.
func (n *node) find(path string) (dir *node, name string) {
	for n != nil {
		first, rest, more := strings.Cut(path, "/")
		if !more {
			return n, first
		}
		n, path = n.kids[first], rest
	}
	return nil, ""
}
