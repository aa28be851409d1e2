package seccomp

import "golang.org/x/sys/unix"

// ioctls of struct space_resv, which do what fallocate does on every
// file system; XFS's older ones (ALLOCSP) beside them.
const (
	fsResvSP, fsResvSP64     = 0x40305828, 0x4030582a
	fsUnresvSP, fsUnresvSP64 = 0x40305829, 0x4030582b
	fsZeroRange              = 0x40305839
	xfsAllocSP, xfsAllocSP64 = 0x4030580a, 0x40305824
)

// reserve closes what takes a disk's space without writing: gigabytes in
// milliseconds, where a watchdog counts what was written meanwhile. Libraries
// write in place of it. What only gives space back stays.
func reserve(f *Builder) {
	const keepSize, punchHole, collapse = 1, 2, 8
	f.denyUnless(unix.EOPNOTSUPP, unix.SYS_FALLOCATE, 1, allBits, keepSize|punchHole, collapse)
	f.denyValues(unix.EOPNOTSUPP, unix.SYS_IOCTL, 1,
		fsResvSP, fsResvSP64, fsUnresvSP, fsUnresvSP64, fsZeroRange, xfsAllocSP, xfsAllocSP64)
	// On XFS a hint has one byte take gigabytes.
	f.Deny(unix.EOPNOTSUPP, unix.SYS_FILE_SETATTR)
	f.denyValues(unix.EOPNOTSUPP, unix.SYS_IOCTL, 1, fsSetXattr)
}
