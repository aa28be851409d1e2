//go:build unix

package machine

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// storage is a file that is mapped.
type storage struct {
	file *os.File

	mu    sync.Mutex
	bytes []byte // a mapping to read, once it was asked for
}

func (s *storage) fill(size int64, fill func(memory []byte) error) (err error) {
	if s.file, err = anonymousFile(); err != nil {
		return err
	}
	if err = s.file.Truncate(size); err == nil && size > 0 {
		var memory []byte
		if memory, err = unix.Mmap(int(s.file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			err = errors.Join(fill(memory), unix.Munmap(memory))
		}
	}
	if err != nil {
		_ = s.close()
	}
	return err
}

func (s *storage) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes != nil {
		_ = unix.Munmap(s.bytes) // it was mapped
		s.bytes = nil
	}
	return s.file.Close()
}

// content returns what the image holds, which must not be changed.
func (i *Image) content() (b []byte, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.bytes == nil && i.size > 0 {
		i.bytes, err = unix.Mmap(int(i.file.Fd()), 0, int(i.size), unix.PROT_READ, unix.MAP_SHARED)
	}
	return i.bytes, err
}

// mapped returns limit bytes of addresses that begin with a private copy of the image.
func (i *Image) mapped(limit int64) ([]byte, func(), error) {
	const protection = unix.PROT_READ | unix.PROT_WRITE
	b, err := unix.Mmap(-1, 0, int(limit), protection, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, nil, err
	}
	free := func() { _ = unix.Munmap(b) } // what was mapped can be unmapped
	if i.size > 0 {
		_, err = unix.MmapPtr(int(i.file.Fd()), 0, unsafe.Pointer(&b[0]), uintptr(i.size), protection, unix.MAP_PRIVATE|unix.MAP_FIXED)
	}
	if err != nil {
		free()
		return nil, nil, err
	}
	return b, free, nil
}

// checkOwner refuses a directory that others may write to.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(s.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is no directory of this user that others cannot write to", dir)
	}
	return nil
}
