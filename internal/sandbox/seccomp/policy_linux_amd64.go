package seccomp

import "golang.org/x/sys/unix"

const (
	// Arch is the audit number of this architecture.
	Arch   = 0xc000003e // AUDIT_ARCH_X86_64
	x32Bit = 0x40000000
)

// neverHere is what this architecture has besides.
var neverHere = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS,
	unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE, unix.SYS__SYSCTL,
}

// ownersHere and timesHere are the older calls that change a file's owner and
// mode, and its times, by its path.
var (
	ownersHere = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN}
	timesHere  = []uint32{unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
)

// opens maps calls that open files to the position of their flags.
var opens = map[uint32]int{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2}
