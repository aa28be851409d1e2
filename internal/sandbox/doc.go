// Package sandbox starts processes that run untrusted code on this machine, behind the
// strongest wall that the machine has, and ends them for certain.
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
// Limits are in force when Start returns: send untrusted code over a pipe afterwards, never
// on the command line. All methods are safe for concurrent use.
//
// # Modes
//
// [New] probes each mode by running it with the real flags and takes the first that works:
// [Bwrap], [Landlock], and, only where Options.AllowNone is set, [None]. If no mode works,
// the error wraps codeinterp.ErrIsolation and says why and what to do. Report describes
// item by item what is in force, with a reason for each stronger mode that is not.
//
// Bwrap runs bubblewrap with namespaces and a seccomp filter. The program sees the system's
// programs and libraries, what the options list, its working directory at /workspace, and a
// small private /tmp.
//
// Landlock restricts the child with Landlock and seccomp between fork and exec: no helper,
// no namespaces, about 1 ms. It works in ordinary containers. The program sees the host's paths and is refused what is not listed.
//
// None isolates nothing. It has what every mode has: a clean environment, resource limits,
// a process group that is killed, no other descriptors.
//
// A host that is itself a program of the first two modes has None only.
//
// Where the host is root, programs run under another uid, never as root: an unused high one
// for each directory of [Sandbox.TempDir], otherwise the owner of the working directory.
// Start refuses programs and directories that this uid cannot reach; see
// [Sandbox.Reachable]. [Sandbox.Show] makes an interpreter below /root reachable, which
// takes CAP_SYS_ADMIN and Linux 5.12.
//
// Programs have no network. [Options].Network gives them the host's, Cmd.Egress what the
// host answers; see package netgate.
//
// # The end of a process
//
// When the program ends, everything that it left running is killed before Wait returns.
// Kill ends the whole tree. In Landlock mode no process can leave its group. In Bwrap mode
// the namespace ends with its first process. In None mode the group and the descendants
// that the watchdog saw are killed; a program can escape that.
//
// When the host is killed, a shell that outlives it for a moment kills all groups.
//
// # Limits
//
// A watchdog measures the totals of a tree (memory, processes, CPU time, disk) 20 to 50
// times a second, so a program can exceed them for about 20 ms, longer on an overloaded
// machine, and a hostile program can hide memory and CPU time from it: run hostile programs
// where a cgroup v2 subtree is delegated to the host, in which the kernel limits memory and
// processes exactly. Report says whether that is so.
//
//   - Memory is resident memory (shared pages in proportion), swap and page tables.
//     Limits.Memory also bounds the private data of each process (RLIMIT_DATA).
//   - CPU time is that of live processes and of children that were waited for.
//   - Disk and inodes are those of the working directory, inodes of Bwrap mode's /tmp and
//     /dev/shm too, looked at at most ten times a
//     second; removed files that are still open do not count. A program that closes a
//     directory to the host ends, since that cannot be measured. Other writable directories
//     are bounded per file only (FileSize).
//   - Both modes refuse memfd_create, fallocate (libraries write instead), vmsplice,
//     System V queues and large segments, io_uring, namespaces, ptrace and BPF.
//   - Landlock mode has no /proc, /dev/shm, sockets (without Network or Egress; socketpair
//     works), inotify and extended attributes. setsid, setpgid and file times by path
//     succeed and do nothing; under the host's own uid chmod and chown do too. Terminals
//     have no job control.
//   - With Egress in Landlock mode there are TCP clients over IPv4 only: no UDP, so that
//     resolvers other than glibc's find no names, and no servers.
//   - Bwrap mode refuses unix sockets and kill(0, ...). Its /tmp and /dev/shm are in
//     memory, each up to a quarter of Limits.Memory, at most 256 MiB, on top of it.
//   - Children of fork servers share the server's uid.
//
// # Security
//
// What is known to get through, each with an attack in the tests:
//
//   - None mode isolates nothing.
//   - In Landlock mode, stat reveals names and sizes of all files, readlink where links
//     lead, and uname the name of the host.
//   - In Bwrap mode, what the kernel shows every user in /proc can be read, and a program
//     can forge its exit status.
//   - A program can lock (flock) the files that it may read, and make set-user-ID files of
//     its own uid: mount what becomes its Cwd with nosuid where that matters.
//   - A host under a user's uid shares that user's kernel quotas with programs.
package sandbox
