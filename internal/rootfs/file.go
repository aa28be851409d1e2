//go:build unix

package rootfs

import (
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fsentry"
)

// A file is an open regular file.
type file struct {
	fs       *FS
	file     *os.File
	name     string
	appended bool
}

var _ codeinterp.File = (*file)(nil)

func (f *file) Stat() (fs.FileInfo, error) {
	i, err := f.file.Stat()
	if err != nil {
		return nil, fault("stat", f.name, err)
	}
	return fsentry.Info(path.Base(f.name), i.Size(), i.Mode(), i.ModTime()), nil
}

func (f *file) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	if err == io.EOF {
		return n, err
	}
	return n, fault("read", f.name, denied(err))
}

func (f *file) Write(p []byte) (int, error) {
	if err := f.room(int64(len(p))); err != nil {
		return 0, fault("write", f.name, err)
	}
	n, err := f.file.Write(p)
	return n, fault("write", f.name, denied(err))
}

// room reports whether n bytes can be added to the file.
func (f *file) room(n int64) error {
	if most := f.fs.opts.MaxFile; most > 0 {
		var at int64
		if i, err := f.file.Stat(); f.appended && err == nil {
			at = i.Size()
		} else if at, err = f.file.Seek(0, io.SeekCurrent); err != nil {
			return err
		}
		if at+n > most {
			return codeinterp.ErrTooLarge
		}
	}
	return f.fs.take(n, 0)
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	n, err := f.file.Seek(offset, whence)
	return n, fault("seek", f.name, err)
}

func (f *file) Close() error { return fault("close", f.name, f.file.Close()) }

// denied translates the error of a file that was not opened for the operation.
func denied(err error) error {
	// write(2) and read(2) say EBADF of a descriptor that was opened for the other.
	if p, ok := err.(*fs.PathError); ok && p.Err == error(unix.EBADF) {
		return fs.ErrPermission
	}
	return err
}

func infoOf(name string, st *unix.Stat_t) fs.FileInfo {
	return fsentry.Info(name, st.Size, modeOf(uint32(st.Mode)), time.Unix(st.Mtim.Unix()))
}

func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	}
	return mode
}
