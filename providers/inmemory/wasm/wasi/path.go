package wasi

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/toolcell/toolcell/internal/fsentry"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

const (
	tmp     = "tmp"
	urandom = "dev/urandom" // which SQLite takes its first random number from
	null    = "dev/null"
	maxPath = 4096
)

// The flags of path_open.
const (
	openCreate = 1 << iota
	openDirectory
	openExclusive
	openTruncate
)

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// path returns the name, from the root, of a path in a directory that is open.
func (c *call) path(fd, address, size uint32) (string, Errno) {
	f := c.file(fd)
	switch {
	case f == nil:
		return "", ErrnoBadf
	case !f.dir:
		return "", ErrnoNotdir
	case size > maxPath:
		return "", ErrnoNametoolong
	}
	b := c.at(address, size)
	if b == nil {
		return "", ErrnoFault
	}
	if size == 0 {
		return "", ErrnoNoent
	}
	return memfs.Clean(f.name, string(b)), 0
}

// inLibrary returns the name in the library of one from the root.
func (s *System) inLibrary(name string) (string, bool) {
	if name == s.LibraryDir {
		return ".", true
	}
	return strings.CutPrefix(name, s.LibraryDir+"/")
}

// stat describes a file, also of the directories that are there without having been made.
func (s *System) stat(name string) (fs.FileInfo, error) {
	if in, ok := s.inLibrary(name); ok {
		return fs.Stat(s.Library, in)
	}
	if name == null {
		return device(name), nil
	}
	info, err := s.Files.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && (name == tmp || strings.HasPrefix(s.LibraryDir, name+"/")) {
		return fsentry.Info(name, 0, fs.ModeDir|0o755, time.Unix(0, 0)), nil
	}
	return info, err
}

func device(name string) fs.FileInfo {
	return fsentry.Info(strings.TrimPrefix(name, "dev/"), 0, fs.ModeCharDevice, time.Unix(0, 0))
}

// list lists a directory.
func (s *System) list(name string) ([]fs.DirEntry, error) {
	if in, ok := s.inLibrary(name); ok {
		return fs.ReadDir(s.Library, in)
	}
	list, err := s.Files.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := s.stat(name); err == nil {
			return nil, nil
		}
	}
	return list, err
}

// change changes something in the context's files, and makes /tmp where that lacks.
func (s *System) change(name string, do func() error) Errno {
	if _, ok := s.inLibrary(name); ok {
		return ErrnoRofs
	}
	err := do()
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, tmp+"/") {
		if s.Files.Mkdir(tmp, 0o755) == nil {
			err = do()
		}
	}
	return errnoOf(err)
}

func (c *call) pathOpen(name string) Errno {
	f := &file{name: name, append: c.u32(7)&flagAppend != 0}
	e := c.open(f, c.u32(4), c.args[5])
	if e != 0 {
		return e
	}
	fd, e := c.add(f)
	if e != 0 {
		f.close()
		return e
	}
	c.put32(c.u32(8), fd)
	return 0
}

// open fills in what a file is.
func (s *System) open(f *file, flags uint32, rights uint64) Errno {
	write := rights&rightWrite != 0
	in, library := s.inLibrary(f.name)
	info, err := s.stat(f.name)
	is := err == nil
	switch {
	case f.name == urandom && !write:
		f.content = fixed{info: device(urandom)}
		return 0
	case f.name == null:
		f.content = fixed{bytes.NewReader(nil), device(null), true}
		return 0
	case is && flags&openCreate != 0 && flags&openExclusive != 0:
		return ErrnoExist
	case library && (write || flags&(openCreate|openTruncate) != 0):
		return ErrnoRofs
	case is && info.IsDir() && write && flags&openDirectory == 0:
		return ErrnoIsdir
	case is && info.IsDir():
		f.dir = true
		return 0
	case is && flags&openDirectory != 0:
		return ErrnoNotdir
	case library:
		data, err := fs.ReadFile(s.Library, in)
		f.content = fixed{Reader: bytes.NewReader(data), info: info}
		return errnoOf(err)
	}
	flag := os.O_RDONLY
	switch {
	case write && rights&rightRead != 0:
		flag = os.O_RDWR
	case write || flags&openTruncate != 0:
		flag = os.O_WRONLY
	}
	for bit, means := range map[uint32]int{openCreate: os.O_CREATE, openExclusive: os.O_EXCL, openTruncate: os.O_TRUNC} {
		if flags&bit != 0 {
			flag |= means
		}
	}
	return s.change(f.name, func() error {
		h, err := s.Files.OpenFile(f.name, flag, 0)
		if err == nil {
			f.content = h.(content)
		}
		return err
	})
}

func (c *call) pathCreateDirectory(name string) Errno {
	if info, err := c.stat(name); err == nil && info.IsDir() {
		return ErrnoExist
	}
	return c.change(name, func() error { return c.Files.Mkdir(name, 0o755) })
}

func (c *call) pathRemoveDirectory(name string) Errno { return c.removePath(name, true) }
func (c *call) pathUnlinkFile(name string) Errno      { return c.removePath(name, false) }

func (c *call) removePath(name string, dir bool) Errno {
	info, err := c.stat(name)
	switch {
	case err != nil:
		return errnoOf(err)
	case dir && !info.IsDir():
		return ErrnoNotdir
	case !dir && info.IsDir():
		return ErrnoIsdir
	}
	return c.change(name, func() error { return c.Files.Remove(name) })
}

func (c *call) pathRename(from string) Errno {
	to, e := c.path(c.u32(3), c.u32(4), c.u32(5))
	if e != 0 {
		return e
	}
	if _, ok := c.inLibrary(from); ok {
		return ErrnoRofs
	}
	return c.change(to, func() error { return c.Files.Rename(from, to) })
}

func (c *call) pathFilestatGet(name string) Errno {
	info, err := c.stat(name)
	if err != nil {
		return errnoOf(err)
	}
	c.putStat(c.u32(4), name, info)
	return 0
}

func (c *call) pathFilestatSetTimes(name string) Errno {
	return c.setTimes(name, c.args[5], c.u32(6))
}

// pathReadlink finds no link: there are none.
func (c *call) pathReadlink(name string) Errno {
	if _, err := c.stat(name); err != nil {
		return errnoOf(err)
	}
	return ErrnoInval
}
