package seccomp

import "golang.org/x/sys/unix"

const (
	// Arch is the audit number of this architecture.
	Arch   = 0xc00000b7 // AUDIT_ARCH_AARCH64
	x32Bit = 0
)

// neverHere is what this architecture has besides.
var neverHere []uint32

// ownersHere and timesHere are the older calls that change a file's owner and
// mode, and its times, by its path.
var ownersHere, timesHere []uint32

// opens maps calls that open files to the position of their flags.
var opens = map[uint32]int{unix.SYS_OPENAT: 2}
