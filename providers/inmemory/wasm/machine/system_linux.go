package machine

import (
	"encoding/binary"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// anonymousFile returns a file that is only in memory.
func anonymousFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("toolcell-image", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "image"), nil
}

// expectWrites tells the kernel that all of a part of a memory is about to be written, so
// that it does so in large pages.
func expectWrites(part []byte) {
	if len(part) > 0 {
		_ = unix.Madvise(part, unix.MADV_HUGEPAGE) // without it the same takes longer
	}
}

// knowsWritten tells that the kernel knows what was written.
const knowsWritten = true

// written returns how many bytes of the image's part of a memory are the instance's own
// pages. ok is false where the kernel does not say.
func (m *memory) written() (n int64, ok bool) {
	const (
		entry     = 8
		shared    = 1 << 61 // a page of the image's file
		inMemory  = 1 << 63
		swappedTo = 1 << 62
	)
	if m.image == 0 {
		return 0, true
	}
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	page := os.Getpagesize()
	pages := make([]byte, int(m.image)/page*entry)
	start := int64(uintptr(unsafe.Pointer(&m.bytes[0]))) / int64(page) * entry
	if _, err := f.ReadAt(pages, start); err != nil {
		return 0, false
	}
	for ; len(pages) > 0; pages = pages[entry:] {
		if v := binary.LittleEndian.Uint64(pages); v&shared == 0 && v&(inMemory|swappedTo) != 0 {
			n += int64(page)
		}
	}
	return n, true
}
