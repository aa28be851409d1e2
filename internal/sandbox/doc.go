// Package sandbox starts processes that run untrusted code on this machine,
// behind the strongest wall that the machine has, and ends them for certain.
//
//	s, err := sandbox.New(&sandbox.Options{ReadOnly: []string{prefix}})
//	dir, err := s.TempDir() // owned by the uid that the program will have
//	p, err := s.Start(&sandbox.Cmd{
//		Path: "/usr/bin/python3", Args: []string{"python3", "-I", "-c", boot},
//		Env:  s.Env(dir, nil, nil), Workdir: dir,
//		Files: []*os.File{devNull, stdoutW, stderrW, codeR},
//	})
//	... // close the child's ends, write the code, read until the pipes end
//	exit := p.Wait()
//
// Limits are in force when Start returns, not before: what must not outrun
// them (the untrusted code) is to be sent over a pipe afterwards, never on the
// command line.
//
// # Modes
//
// [New] probes each mode by running it with the real flags and takes the first
// that works: [Bwrap], [Landlock], and, only where Options.AllowNone is set,
// [None]. Where none is left it returns an error that wraps
// codeinterp.ErrIsolation and says why, and what to do about it. Report tells
// item by item what is in force, with a line for each stronger mode that is
// not.
//
// Bwrap runs bubblewrap with namespaces for users, processes, mounts, network,
// IPC and host name, and a seccomp filter. The program sees a file system of
// its own: the system's programs and libraries, what the options list, its
// working directory at /workspace, and a small private /tmp. Nothing survives
// the host process.
//
// Landlock has the child restrict itself with Landlock and seccomp between fork
// and exec: no helper, no namespaces, 1 ms. It works in ordinary
// containers. The program keeps the host's view of paths and is refused what
// is not listed; see Limits below for what differs from a free process.
//
// Programs in these two modes have no namespaces and no Landlock of their own (as on a
// kernel without it): a host that is itself such a program has None mode only, which
// has to be allowed, and stays within what holds it.
//
// None isolates nothing. It has what every mode has: a clean environment,
// resource limits, a process group that is killed, no inherited descriptors.
//
// Where the host is root, every mode runs the program under another uid: an
// unused high one for each directory of [Sandbox.TempDir], else the owner of
// the working directory; never as root. Programs and directories that this uid
// cannot reach are refused by Start; ask [Sandbox.Reachable] first. What only root
// reaches, such as an interpreter under /root, [Sandbox.Show] brings within reach:
// programs are forked in a mount namespace in which /root is an empty directory, but
// for what is shown, read-only, and what leads there. That takes CAP_SYS_ADMIN and
// Linux 5.12; file systems that the host mounts later are there too where it shares
// its mounts (see mount_namespaces(7)), as it mostly does outside containers.
//
// # The end of a process
//
// When the program ends, whatever it left running is killed before Wait
// returns. Kill ends the whole tree at once. In landlock mode nobody can leave
// the process group, whose id is held by an unreaped child of the host, so
// killing the group is complete and never hits a stranger. In bwrap mode the
// process namespace dies with its first process. In none mode the group and
// every descendant that the watchdog saw is killed; a program that means to
// can escape that.
//
// Where the host itself is killed, a shell that outlives it for a moment kills
// all process groups; it is the host's child from its first program to Close.
// In bwrap mode the first process of each namespace is in one, from before it
// makes the namespace to its end: bubblewrap ties what it forks to itself last
// of all, after the program has begun, and what is not tied yet it would leave.
//
// One thread of the host forks all programs of a Sandbox: the kernel ties the
// death signal of a child to the thread that forked it.
//
// # Limits
//
// Landlock mode, because of Landlock and the filter: /proc is closed to the
// program, its own entries included; there is no /dev/shm, hence no
// multiprocessing semaphores; names and sizes of files outside can be told by
// stat; no sockets at all without Options.Network, loopback and unix sockets
// included (socketpair works); setsid and setpgid report success and do
// nothing; signals go to single processes, never to groups; setting a file's
// times by its path does nothing, there are no extended attributes and no
// watching of directories; under the host's own uid (not as root) chmod and
// chown report success and do nothing either, so a script that a program
// writes cannot be made executable afterwards.
//
// Bwrap mode has none of these: /proc shows the program's own processes,
// loopback works among them, groups and sessions are as usual, except that
// nothing can signal the group that the program starts in (kill(0, ...)). Unix
// sockets are closed there too. Its /tmp and /dev/shm are in memory, each up to a quarter of
// Limits.Memory, at most 256 MiB, on top of that limit.
//
// Children of fork servers share the server's uid: metadata calls do nothing
// for them even where the host is root.
//
// Totals over a process tree (memory, processes, CPU time, disk) are measured
// by a watchdog some 20 to 50 times a second, and a few times a second while
// the tree does nothing, so they can be overshot: by what a program can use up
// in some 20 ms, longer on a machine that is overloaded. Where a cgroup v2
// subtree is delegated to the host process, the kernel limits memory and
// processes exactly. Files are looked at every 0.1 to 0.3 seconds, and less often where
// there are so many that one look takes longer, but then at once where the file system has
// lost more than is left of the limit: with 90,000 files, of which a look takes 0.3
// seconds, 400 MiB were written beyond a limit of 50. What takes a disk's
// space without writing (fallocate and ioctls like it, but for those that make holes;
// XFS's hints for the size of extents) is refused but in none mode, since that is
// gigabytes in milliseconds; libraries write then. Limits.Memory also bounds the private data of each single
// process (RLIMIT_DATA), which most runtimes report as an error of their own;
// Exit has no Cause then. Disk and inodes are those of the working directory,
// and of files that the tree holds open without a name; what it writes to other
// directories listed as Writable is only bounded per file.
//
// CPU time is what processes say, live ones and those that somebody has waited for,
// with what of the others was seen; or what the kernel's task clock (see
// perf_event_open(2)) says, where that is more. A host may use that where
// kernel.perf_event_paranoid is 2 or less, or with CAP_PERFMON, and its container's
// filter allows it; elsewhere children that end within some 20 ms and that nobody
// waits for, since SIGCHLD is ignored, mostly do not count. The kernel takes what
// executes a file that it may not read off that clock: a program is ended when 250 ms
// were seen, at looks some 20 ms apart, that the clock does not have, and a sixteenth
// of what it has; what it takes unseen meanwhile is some times as much.
//
// What executes a file that it may not read (mode 0111) is also hidden by the kernel
// from a host that is not root. In Landlock and bwrap mode a program with such a
// process for more than 250 ms is ended, where memory or disk is limited, as one that
// exceeds that limit; Exit.Detail says what to do. Files with the set-user-ID bit
// that programs can read are no matter, since they gain nothing. There is no
// close_range with CLOSE_RANGE_UNSHARE, nor a thread with descriptors of its own.
//
// The kernel counts processes per uid. Under a uid that others have too (not
// as root, or with Options.UID) the watchdog enforces Limits.Processes by
// killing the tree; otherwise a fork that is too many fails.
//
// Memory is what is resident, swapped out, and spent on page tables; shared memory
// without a name that the tree maps, whether its page tables have it or not; and
// what the kernel holds for sockets, pseudo terminals and what epolls watch. The latter two count up to what the machine's
// shared memory, and the kernel's own, have grown by since the tree began. What is in
// shared memory is told to a host with CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; for
// others its size is up to where it is mapped: a program that unmaps the rest has
// it for nothing, and one with large mappings that it has not touched can be killed
// while others on the machine fill shared memory or a tmpfs. So can one whose lines in
// /proc/PID/maps are more than 16 MiB in a process, or take more than 250 ms of
// processor time to read: what is not read could be anything. A socket is
// charged with twice the size that buffers begin with (net.core.wmem_default, 208
// KiB), which setsockopt reports to change and does not; those of TCP grow by
// themselves, in all up to net.ipv4.tcp_mem. A thread that waits in poll or
// select counts as if it waited for sockets without a descriptor. Where any descriptor was sent over a
// socket and not received, as many sockets count besides as the kernel lets a user
// have in flight, Limits.OpenFiles and 253: what the kernel has grown by meanwhile is
// then taken for the program's, up to that. An end of a pseudo terminal is charged
// with 32 KiB, an inotify instance with 8 MiB, and what an epoll watches with 200 bytes; where there could be more than
// half a million such, by the descriptors that the tree has open times those that a
// process may have, which with the default are more than 512 open ones, with as much as a
// user can have (fs.epoll.max_user_watches), up to that growth. Programs share with all
// others of the machine what it has of terminals (kernel.pty.max): in Bwrap mode they can
// use them up.
//
// Pages of mapped files are not counted. What the kernel spends on other things
// is not either: mappings (850 MB for 60 processes of 32,600 each; there can be
// 65,530), POSIX locks (230 MB in 28 s), pages of files that were cut off while
// they were in pipes or sockets. A pipe holds 64 KiB until those of a user
// hold 64 MiB (fs.pipe-user-pages-soft), and 8 KiB from then on; programs are not exempt.
// There is no vmsplice outside none mode: 4 KiB in a pipe could be 2 MiB of memory.
// There are no System V queues there, no segments of more than 64 KiB and no sets of
// more than 32 semaphores, as they belong to no process, no rulesets of Landlock, of
// which one can take 4 MiB, no tables of futexes for a process (PR_FUTEX_HASH), and no
// io_setup, whose requests hold files that nobody shows. There is no memfd_create outside none mode:
// such files would belong to no process while they are in flight on a socket.
// Files on disk that are only mapped or in flight, or that a thread has which waits to
// copy from one or to lock one, have no size to be seen; they
// count where the file system lost more space since the program began than all
// directories have gained, also where a program has more mappings and descriptors
// than are read. Where it lost that and nothing is hidden, others may have written; a
// program that moves its files while they are looked at could have, too, and is stopped
// (SIGSTOP) for the time of one look. Files in flight on a socket that only a thread's poll
// has are not seen. A directory that its owner cannot list is opened for as long as it is measured.
// The kernel takes programs before the host when the machine is out of memory.
//
// # Security
//
// What is known to get through, each with an attack in the tests that has to:
//
//   - None mode isolates nothing; under a shared uid a program can signal the
//     host and other programs there.
//   - In landlock mode, stat tells names and sizes of all files, readlink where
//     links lead, and uname the name of the host.
//   - In bwrap mode, what the kernel tells every user in /proc and of its own
//     settings can be read; not the keys of the host's user.
//   - A program can lock (flock) the files that it may read.
//   - In bwrap mode a program can take over the first process of its namespace,
//     which is under the same filter, and forge the exit status.
//   - Programs can make set-user-ID files of their own uid, in bwrap mode and
//     under a root host in landlock mode. Mount what becomes their Cwd with
//     nosuid where that matters.
//
// Besides, a host under a user's uid shares the kernel's quotas of that user
// with programs: memory of pipes, inotify instances, pending signals. A root host without
// CAP_SYS_PTRACE, as in most containers, cannot look at the descriptors of
// programs: files without a name escape the limit of the disk there, and shared
// memory that of memory.
//
// # Concurrency
//
// All methods are safe for concurrent use.
package sandbox
