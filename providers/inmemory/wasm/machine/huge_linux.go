package machine

import "golang.org/x/sys/unix"

// expectWrites tells the kernel that all of a part of a memory is about to be written, so
// that it does so in large pages.
func expectWrites(part []byte) {
	if len(part) > 0 {
		_ = unix.Madvise(part, unix.MADV_HUGEPAGE) // without it the same takes longer
	}
}
