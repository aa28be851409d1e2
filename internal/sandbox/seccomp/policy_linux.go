// Package seccomp builds the system call filters of the sandbox.
package seccomp

import "golang.org/x/sys/unix"

// A Policy is the set of system calls that a program may make. No policy allows what an
// interpreter never needs: tracing, mounting, namespaces, kernel keys, modules,
// io_uring, BPF.
type Policy struct {
	// Network allows internet sockets. Unix sockets are never allowed, only
	// connected pairs of them: paths of the host's sockets would be in reach.
	Network bool

	// Egress is for a program whose sockets the host makes: see Notify.
	Egress bool

	// Monitored is for a program in whose process group its monitor is.
	Monitored bool

	// Shared is for a program that has no namespaces: it closes what Landlock
	// leaves open between processes, and pins the process group, if Group is not 0.
	Shared bool
	Group  int

	// Forks is for a program whose copies the host lets into other groups: see Notify.
	Forks bool

	// Terminal is for a program with a terminal: it is refused the terminal's process
	// group, so that shells know that they have no job control.
	Terminal bool

	// SameUID is for a program that runs under the host's uid: it closes what
	// Landlock leaves open to the owner of files and processes.
	SameUID bool

	// ABI is the version of Landlock: before 3 it does not know truncation.
	ABI int
}

// Constants that x/sys lacks or has for some architectures only.
const (
	tiocSTI   = 0x5412
	tiocLinux = 0x541c

	// ioctls that change a file's attributes through a descriptor that may
	// only read: FS_IOC_SETFLAGS in both sizes, FS_IOC_SETVERSION,
	// FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY.
	fsSetFlags, fsSetFlags32, fsSetVersion     = 0x40086602, 0x40046602, 0x40087602
	fsSetXattr, fsEnableVerity, fsSetEncPolicy = 0x401c5820, 0x40806685, 0x800c6613

	fSetLease, fNotify = 1024, 1026

	allBits   = ^uint32(0)
	sockTypes = 0xf
)

// Build assembles the program.
func (p Policy) Build() Filter {
	f := New(Arch, x32Bit)
	f.Deny(unix.EPERM, never...)
	f.Deny(unix.EPERM, neverHere...)
	// A memfd is memory that belongs to no process where a socket holds it; the
	// kernel then looks for its victims elsewhere. clone3 has its flags in memory,
	// where no filter sees them; libraries take clone then.
	f.Deny(unix.ENOSYS, unix.SYS_CLONE3, unix.SYS_MEMFD_SECRET, unix.SYS_MEMFD_CREATE)
	// A sibling of the program's would be a child of the host's.
	f.DenyBits(unix.EPERM, unix.SYS_CLONE, 0, unix.CLONE_PARENT)
	// The memory of what is not dumpable could not be measured.
	f.on(unix.SYS_PRCTL, loadArg(0), jump(opEq, unix.PR_SET_DUMPABLE, 0, 3), loadArg(1),
		jump(opEq, 0, 0, 1), fail(unix.EPERM))
	const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	f.DenyBits(unix.EPERM, unix.SYS_CLONE, 0, namespaces)
	// PER_LINUX and PER_LINUX32, each with UNAME26 too, and the query: what
	// Docker's profile allows as well.
	f.denyUnless(unix.EPERM, unix.SYS_PERSONALITY, 0, allBits, 0, 8, 0x20000, 0x20008, allBits)
	// The first two put input into a terminal, which the host may have; the last gives
	// it another driver of the kernel's.
	f.denyValues(unix.EPERM, unix.SYS_IOCTL, 1, tiocSTI, tiocLinux, unix.TIOCSETD)
	// Whoever opens a file with a lease has to wait for the program, the host too.
	f.denyValues(unix.EINVAL, unix.SYS_FCNTL, 1, fSetLease, fNotify)
	// Landlock leaves extended attributes open to every process that may write to a file, and
	// by one of them the host knows its own files: see internal/probecache.
	f.Deny(unix.ENOTSUP, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT)
	reserve(f)
	kernelMemory(f)
	p.sockets(f)
	if p.Monitored {
		// kill(0) goes to the whole group, its monitor included.
		f.denyValues(unix.EPERM, unix.SYS_KILL, 0, 0)
	}
	if p.Shared {
		p.neighbours(f)
	}
	if p.Group != 0 {
		p.pin(f)
	}
	if p.Terminal {
		f.denyValues(unix.ENOTTY, unix.SYS_IOCTL, 1, unix.TIOCGPGRP, unix.TIOCSPGRP)
	}
	if p.SameUID {
		p.owner(f)
	}
	return f.Build()
}

func (p Policy) sockets(f *Builder) {
	switch {
	case p.Egress:
		f.denyUnless(unix.EAFNOSUPPORT, unix.SYS_SOCKET, 0, allBits, unix.AF_INET)
		f.Deny(unix.EPERM, unix.SYS_BIND, unix.SYS_LISTEN)
		// Sockets are unix pairs, which have no options of TCP and IP.
		f.denyUnless(0, unix.SYS_SETSOCKOPT, 1, allBits, unix.SOL_SOCKET)
		// Their other end is the host's, whose process the program would get a descriptor of.
		f.denyValues(unix.ENOPROTOOPT, unix.SYS_GETSOCKOPT, 2, unix.SO_PEERPIDFD)
		f.DenyBits(unix.EPERM, unix.SYS_SENDTO, 3, unix.MSG_FASTOPEN)
		f.DenyBits(unix.EPERM, unix.SYS_SENDMSG, 2, unix.MSG_FASTOPEN)
		f.DenyBits(unix.EPERM, unix.SYS_SENDMMSG, 3, unix.MSG_FASTOPEN)
	case p.Network:
		f.denyUnless(unix.EPERM, unix.SYS_SOCKET, 0, allBits, unix.AF_INET, unix.AF_INET6)
	default:
		f.Deny(unix.EPERM, unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN)
	}
	if p.Shared && !p.Network {
		// SIOCGIFCONF and the like list the host's interfaces and addresses on any socket.
		f.on(unix.SYS_IOCTL, loadArg(1), jump(opGe, 0x8906, 0, 2), jump(opGe, 0x8a00, 1, 0), fail(unix.EPERM))
	}
	f.denyUnless(unix.EPERM, unix.SYS_SOCKETPAIR, 0, allBits, unix.AF_UNIX)
	// Datagrams could be sent from one of a pair to any unix socket.
	f.denyUnless(unix.EPERM, unix.SYS_SOCKETPAIR, 1, sockTypes, unix.SOCK_STREAM, unix.SOCK_SEQPACKET)
}

// Notify returns a filter that leaves calls to its listener: with egress those of socket
// for internet sockets and of connect, with forks those of setpgid that name a process.
// Filters on top of it can still refuse them.
func Notify(egress, forks bool) Filter {
	f := New(Arch, x32Bit)
	if egress {
		f.on(unix.SYS_SOCKET, loadArg(0), jump(opEq, unix.AF_INET, 0, 1), op(opRet, retNotify))
		f.on(unix.SYS_CONNECT, op(opRet, retNotify))
	}
	if forks {
		f.on(unix.SYS_SETPGID, loadArg(0), jump(opEq, 0, 1, 0), op(opRet, retNotify))
	}
	return f.Build()
}

// neighbours closes ways to other processes and their objects that need no
// path, watching of directories, and what Landlock leaves open to every process
// who may write to a file: its times.
func (p Policy) neighbours(f *Builder) {
	f.Deny(0, timesHere...)
	// Without a path it is about a file that the program has open.
	f.on(unix.SYS_UTIMENSAT, loadArg(1), jump(opEq, 0, 0, 2), loadArgHigh(1), jump(opEq, 0, 1, 0), fail(0))
	f.Deny(unix.ENOSYS, sysvIPC...)
	f.Deny(unix.EACCES, unix.SYS_INOTIFY_ADD_WATCH)
	// It could outlive the host otherwise.
	f.on(unix.SYS_PRCTL, loadArg(0), jump(opEq, unix.PR_SET_PDEATHSIG, 0, 3), loadArg(1),
		jump(opEq, uint32(unix.SIGKILL), 1, 0), fail(unix.EPERM))
	if p.ABI < 3 {
		f.Deny(unix.EPERM, unix.SYS_TRUNCATE)
		// Its flags are in memory, where no filter sees them; libraries take openat
		// then.
		f.Deny(unix.ENOSYS, unix.SYS_OPENAT2)
		for nr, flags := range opens {
			f.on(nr, loadArg(flags), op(opAnd, unix.O_TRUNC|unix.O_ACCMODE), jump(opEq, unix.O_TRUNC, 0, 1), fail(unix.EPERM))
		}
	}
}

// pin keeps the program in its process group: setsid and setpgid succeed and
// do nothing, and signals to groups, which would hit the program itself, fail.
func (p Policy) pin(f *Builder) {
	f.Deny(0, unix.SYS_SETSID)
	if p.Forks { // the host decides about the rest
		f.denyValues(0, unix.SYS_SETPGID, 0, 0)
	} else {
		f.denyUnless(0, unix.SYS_SETPGID, 1, allBits, uint32(p.Group))
	}
	f.on(unix.SYS_KILL, loadArg(0), jump(opEq, 0, 1, 0), jump(opGe, 1<<31, 0, 1), fail(unix.EPERM))
}

// owner closes what the owner of a file may do to it without opening it for
// writing, and what a user may do to his other processes.
func (p Policy) owner(f *Builder) {
	f.Deny(0, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT)
	f.Deny(0, ownersHere...)
	f.denyValues(unix.EPERM, unix.SYS_IOCTL, 1, fsSetFlags, fsSetFlags32, fsSetVersion, fsEnableVerity, fsSetEncPolicy)
	for _, nr := range []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES} {
		f.denyUnless(unix.EPERM, nr, 0, allBits, 0)
	}
	f.denyUnless(unix.EPERM, unix.SYS_SETPRIORITY, 0, allBits, unix.PRIO_PROCESS)
	f.denyUnless(unix.EPERM, unix.SYS_SETPRIORITY, 1, allBits, 0)
	f.Deny(unix.EPERM, unix.SYS_IOPRIO_SET)
}

var never = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT,
	unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
	unix.SYS_CLOCK_SETTIME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
}

var sysvIPC = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_GETSETATTR,
}
