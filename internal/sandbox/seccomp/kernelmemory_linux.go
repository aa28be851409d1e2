package seccomp

import "golang.org/x/sys/unix"

const (
	// What one System V object may take where there are any, in a namespace of their
	// own: all that the kernel allows there take 256 MiB and 80 MiB then.
	maxSegment = 64 << 10 // bytes
	maxSet     = 32       // semaphores

	prFutexHash = 78
)

// kernelMemory bounds kernel memory that /proc attributes to no process.
func kernelMemory(f *Builder) {
	// A page in a pipe holds all of the large page that it is a part of, which its
	// process may have given back: 2 MiB for 4 KiB. Programs write then.
	f.Deny(unix.ENOSYS, unix.SYS_VMSPLICE)
	// What the kernel does on its own holds files and sockets that no descriptor shows,
	// and a machine has few of its contexts for all. Libraries do without.
	f.Deny(unix.ENOSYS, unix.SYS_IO_SETUP)
	// A process may have a table of futexes of its own, of up to 2 GiB; it has the
	// machine's then.
	f.denyValues(unix.EINVAL, unix.SYS_PRCTL, 0, prFutexHash)
	// Segments without a mapping, queues and semaphores belong to no process.
	f.Deny(unix.ENOSYS, unix.SYS_MSGGET)
	f.denyAbove(unix.EINVAL, unix.SYS_SHMGET, 1, maxSegment)
	f.denyAbove(unix.EINVAL, unix.SYS_SEMGET, 1, maxSet)
	// A set of rules can be 4 MiB. Programs that would use one do without where the
	// kernel has none. To put one into force is left to the children of fork servers.
	f.Deny(unix.ENOSYS, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE)
	// Sizes of sockets' buffers stay what they are; few programs look whether they
	// have changed.
	checks := []unix.SockFilter{loadArg(1), jump(opEq, unix.SOL_SOCKET, 0, 9), loadArg(2)}
	for _, option := range []uint32{unix.SO_SNDBUF, unix.SO_RCVBUF, unix.SO_SNDBUFFORCE, unix.SO_RCVBUFFORCE} {
		checks = append(checks, jump(opEq, option, 0, 1), fail(0))
	}
	f.on(unix.SYS_SETSOCKOPT, checks...)
}
