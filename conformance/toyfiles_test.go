package conformance

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	artifacts "github.com/toolcell/toolcell/internal/artifact"
	"github.com/toolcell/toolcell/internal/fsentry"
)

// toyOdds is what a toy's directory has that a memfs cannot have: links, FIFOs,
// sockets, and files whose names are not UTF-8.
type toyOdds struct {
	mu    sync.Mutex
	all   map[string]toyOdd
	fresh []string // that the run in progress made
}

type toyOdd struct {
	mode fs.FileMode
	text string // of a file, or where a link leads
}

func (o toyOdd) info(name string) fs.FileInfo {
	return fsentry.Info(name, int64(len(o.text)), o.mode, time.Time{})
}

func (l *toyOdds) make(name string, o toyOdd) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]toyOdd{}
	}
	l.all[name] = o
	l.fresh = append(l.fresh, name)
	return nil
}

func (l *toyOdds) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = nil
}

// list adds what the run made to its artifacts.
func (l *toyOdds) list(found *artifacts.List) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range l.fresh {
		o := l.all[name]
		if why := artifacts.Kind(o.mode); why != "" {
			found.Skip(name, 0, why)
		} else {
			found.Add(context.Background(), name, int64(len(o.text)), io.NopCloser(strings.NewReader(o.text)))
		}
	}
}

func (l *toyOdds) find(name string) (toyOdd, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.all[name]
	return o, ok
}

// A toyFS is a toy's directory with what is odd in it.
type toyFS struct {
	codeinterp.FS
	odd *toyOdds
}

// follow returns where a name leads, unless that is outside, or special.
func (f toyFS) follow(op, name string) (string, error) {
	first, rest, _ := strings.Cut(name, "/")
	o, ok := f.odd.find(first)
	switch {
	case !ok:
		return name, nil
	case o.mode != fs.ModeSymlink:
		return "", &fs.PathError{Op: op, Path: name, Err: codeinterp.ErrSpecial}
	case !fs.ValidPath(o.text):
		return "", &fs.PathError{Op: op, Path: name, Err: codeinterp.ErrOutside}
	case rest != "":
		return o.text + "/" + rest, nil
	}
	return o.text, nil
}

func (f toyFS) Lstat(name string) (fs.FileInfo, error) {
	if o, ok := f.odd.find(name); ok {
		return o.info(name), nil
	}
	return f.FS.Lstat(name)
}

func (f toyFS) Stat(name string) (fs.FileInfo, error) {
	to, err := f.follow("stat", name)
	if err != nil {
		return nil, err
	}
	return f.FS.Stat(to)
}

func (f toyFS) Open(name string) (fs.File, error) {
	to, err := f.follow("open", name)
	if err != nil {
		return nil, err
	}
	return f.FS.Open(to)
}

func (f toyFS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	to, err := f.follow("open", name)
	if err != nil {
		return nil, err
	}
	return f.FS.OpenFile(to, flag, perm)
}

func (f toyFS) Mkdir(name string, perm fs.FileMode) error {
	to, err := f.follow("mkdir", name)
	if err != nil {
		return err
	}
	return f.FS.Mkdir(to, perm)
}

func (f toyFS) ReadDir(name string) ([]fs.DirEntry, error) {
	to, err := f.follow("readdir", name)
	if err != nil {
		return nil, err
	}
	list, err := f.FS.ReadDir(to)
	if to != "." {
		return list, err
	}
	f.odd.mu.Lock()
	defer f.odd.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.odd.all)) {
		list = append(list, fs.FileInfoToDirEntry(f.odd.all[name].info(name)))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

func (f toyFS) Remove(name string) error {
	if _, ok := f.odd.find(name); !ok {
		return f.FS.Remove(name)
	}
	f.odd.mu.Lock()
	defer f.odd.mu.Unlock()
	delete(f.odd.all, name)
	return nil
}
