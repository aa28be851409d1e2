package python

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxFile bounds a file of the library.
const maxFile = 32 << 20

// A library is what programs import: an archive whose files are unpacked as they are
// first read, and packages.
type library struct {
	archive  *zip.Reader
	standard string // the directory of the archive
	packages fs.FS  // nil: none
	file     io.Closer
	mu       sync.Mutex
	files    map[string][]byte
}

func openLibrary(pack fs.FS) (*library, error) {
	l, err := readLibrary(pack)
	if err != nil {
		return nil, fmt.Errorf("%w: the pack: %v", codeinterp.ErrInvalid, err)
	}
	return l, nil
}

func readLibrary(pack fs.FS) (_ *library, err error) {
	file, err := pack.Open(libraryName)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // the first error says more
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		data, err := io.ReadAll(file)
		if err != nil {
			return nil, err
		}
		at = bytes.NewReader(data)
	}
	archive, err := zip.NewReader(at, info.Size())
	return &library{archive: archive, file: file, files: map[string][]byte{}}, err
}

func (l *library) close() error { return l.file.Close() }

// packagesDir is that of Options.Packages, beside CPython's own.
const packagesDir = "packages"

// at returns the file system that has a name of the library, and the name in it.
func (l *library) at(name string) (fs.FS, string) {
	dir, rest, _ := strings.Cut(name, "/")
	switch {
	case dir == l.standard:
		return l.archive, cmp.Or(rest, ".")
	case dir == packagesDir && l.packages != nil:
		return l.packages, cmp.Or(rest, ".")
	}
	return l, name // there is no such file
}

func (l *library) Open(name string) (fs.File, error) {
	if in, name := l.at(name); in != l {
		return in.Open(name)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (l *library) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return fs.Stat(l.archive, name)
	}
	in, name := l.at(name)
	if in == l {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return fs.Stat(in, name)
}

// A folder is an entry of the library's root.
type folder struct {
	fs.FileInfo
	name string
}

func (f folder) Name() string { return f.name }

func (l *library) ReadDir(name string) (list []fs.DirEntry, err error) {
	if name != "." {
		in, name := l.at(name)
		if in == l {
			return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
		}
		return fs.ReadDir(in, name)
	}
	for _, name := range []string{packagesDir, l.standard} {
		if info, err := l.Stat(name); err == nil {
			list = append(list, fs.FileInfoToDirEntry(folder{info, name}))
		}
	}
	return list, nil
}

// ReadFile returns a file, which must not be changed.
func (l *library) ReadFile(name string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.files[name]; ok {
		return b, nil
	}
	f, err := l.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err == nil {
		l.files[name] = b
	}
	return b, err
}
