package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A bind is a path that bubblewrap shows: what its descriptor names, or what
// the path leads to where there is none.
type bind struct {
	path     string
	writable bool
	held     *Dir
	fd       int
}

func (b bind) args() []string {
	flag := "--ro-bind"
	if b.writable {
		flag = "--bind"
	}
	if b.held != nil {
		return []string{flag + "-fd", strconv.Itoa(b.fd), b.path}
	}
	return []string{flag + "-try", b.path, b.path}
}

// binds returns what the caller listed, directories before what is in them.
// The descriptors are those from first on.
func (s *Sandbox) binds(pl *plan, first int) ([]bind, []*os.File) {
	var list []bind
	for _, h := range s.held {
		b := bind{path: h.path, writable: h.writable}
		if s.bindsFD {
			b.held = h.dir
		}
		list = append(list, b)
	}
	for _, path := range pl.ReadOnly {
		list = append(list, bind{path: filepath.Clean(path)})
	}
	for _, path := range pl.Writable {
		list = append(list, bind{path: filepath.Clean(path), writable: true})
	}
	if pl.Cwd != nil {
		list = append(list, bind{path: pl.Cwd.Path(), writable: true, held: pl.Cwd})
	}
	slices.SortStableFunc(list, func(a, b bind) int { return strings.Compare(a.path, b.path) })
	var files []*os.File
	for i, b := range list {
		if b.held != nil {
			list[i].fd = first + len(files)
			files = append(files, b.held.file)
		}
	}
	return list, files
}
