package python

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxFile bounds a file of the library.
const maxFile = 32 << 20

// A library is an archive whose files are unpacked as they are first read.
type library struct {
	archive *zip.Reader
	file    io.Closer
	mu      sync.Mutex
	files   map[string][]byte
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

func (l *library) Open(name string) (fs.File, error) { return l.archive.Open(name) }

func (l *library) Stat(name string) (fs.FileInfo, error) { return fs.Stat(l.archive, name) }

func (l *library) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(l.archive, name) }

// ReadFile returns a file, which must not be changed.
func (l *library) ReadFile(name string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, ok := l.files[name]; ok {
		return b, nil
	}
	f, err := l.archive.Open(name)
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
