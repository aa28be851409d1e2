package python

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fsentry"
)

// maxFile bounds a file of the library.
const maxFile = 32 << 20

// A library is what programs import: the directories of an archive and of packages. Files
// are kept as they are first read.
type library struct {
	dirs    map[string]fs.FS
	archive io.Closer
	mu      sync.Mutex
	files   map[string][]byte
}

// packagesDir is that of Options.Packages, beside CPython's own.
const packagesDir = "packages"

// openLibrary opens that of a pack, as a directory with the name standard.
func openLibrary(pack fs.FS, standard string, packages fs.FS) (*library, error) {
	file, err := pack.Open(libraryName)
	if err == nil {
		l := &library{dirs: map[string]fs.FS{}, archive: file, files: map[string][]byte{}}
		if l.dirs[standard], err = readArchive(file); err == nil {
			if packages != nil {
				l.dirs[packagesDir] = packages
			}
			return l, nil
		}
		_ = file.Close() // the first error says more
	}
	return nil, fmt.Errorf("%w: the pack: %v", codeinterp.ErrInvalid, err)
}

func readArchive(file fs.File) (*zip.Reader, error) {
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
	return zip.NewReader(at, info.Size())
}

func (l *library) close() error { return l.archive.Close() }

func (l *library) Open(name string) (fs.File, error) {
	dir, rest, _ := strings.Cut(name, "/")
	if in := l.dirs[dir]; in != nil {
		return in.Open(cmp.Or(rest, "."))
	}
	if name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	folder := func(name string) fs.FileInfo { return fsentry.Info(name, 0, fs.ModeDir|0o755, time.Unix(0, 0)) }
	var list []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(l.dirs)) {
		list = append(list, fs.FileInfoToDirEntry(folder(name)))
	}
	return fsentry.Open(folder("."), list), nil
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
