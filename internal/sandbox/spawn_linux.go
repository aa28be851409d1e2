package sandbox

import (
	"os"
	"strconv"

	"github.com/toolcell/toolcell/internal/sandbox/forkexec"
	"github.com/toolcell/toolcell/internal/sandbox/seccomp"
	"golang.org/x/sys/unix"
)

// A spawn is one fork and exec. Everything that restricts the child, the child
// does to itself: a thread of the host that did it would be within reach of
// the program's signals.
type spawn struct {
	path  string
	args  []string
	env   []string
	dir   string
	cwd   *Dir // instead of dir, if set
	fds   []int
	group int  // that it joins, 0 for a new one
	term  bool // descriptor 0 is its controlling terminal; it leads a session and a group
	tied  bool // it dies with the host
	ids   identity

	rlimits []Rlimit
	rules   *os.File       // of Landlock, if any
	filter  seccomp.Filter // if any

	pid int
}

// steps returns what the child does, in this order: what needs rights of the
// host's comes before it gives them up.
func (sp *spawn) steps() *forkexec.Steps {
	s := &forkexec.Steps{}
	s.Signals()
	if sp.term && sp.rules == nil {
		// Inside of a namespace a shell stops itself otherwise when it takes the terminal
		// from bubblewrap.
		s.Ignore(unix.SIGTTOU)
	}
	// This early, so that a kill of the group reaches the child in all that follows.
	if sp.term {
		s.Do(unix.SYS_SETSID)
	} else {
		s.Do(unix.SYS_SETPGID, 0, uintptr(sp.group))
	}
	rules, cwd := -1, -1
	if sp.rules != nil {
		rules = int(sp.rules.Fd())
	}
	if sp.cwd != nil {
		cwd = sp.cwd.fd()
	}
	keep := s.Move(sp.fds, []int{rules, cwd})
	if sp.term {
		s.Do(unix.SYS_IOCTL, 0, unix.TIOCSCTTY, 0)
	}
	addLimits(s, sp.rlimits)
	if sp.ids.drop {
		// Groups before ids: without the rights of root they could not be given up
		// any more.
		s.Do(unix.SYS_SETGROUPS, 0, 0)
		s.Do(unix.SYS_SETRESGID, uintptr(sp.ids.gid), uintptr(sp.ids.gid), uintptr(sp.ids.gid))
		s.Do(unix.SYS_SETRESUID, uintptr(sp.ids.uid), uintptr(sp.ids.uid), uintptr(sp.ids.uid))
	}
	if sp.cwd != nil {
		s.Do(unix.SYS_FCHDIR, uintptr(keep[1]))
	} else {
		s.Do(unix.SYS_CHDIR, s.Text(sp.dir))
	}
	if sp.tied {
		s.Do(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
		// The host may have died before the signal was asked for, and would never
		// send it.
		s.Expect(uintptr(os.Getpid()), unix.SYS_GETPPID)
	}
	if sp.rules != nil || sp.filter != nil {
		s.Do(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if sp.rules != nil {
		s.Do(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(keep[0]), 0)
	}
	// After the last use of the descriptors that only the child's own steps need.
	s.Try(unix.SYS_CLOSE_RANGE, uintptr(len(sp.fds)), 1<<31-1, 0)
	if sp.filter != nil {
		forkexec.Pin(s, &sp.filter[0])
		prog := &unix.SockFprog{Len: uint16(len(sp.filter)), Filter: &sp.filter[0]}
		s.Do(unix.SYS_SECCOMP, setModeFilter, 0, forkexec.Pin(s, prog))
	}
	path, args, env := s.Text(sp.path), s.Texts(sp.args), s.Texts(sp.env)
	s.Unmask()
	s.Do(unix.SYS_EXECVE, path, args, env)
	return s
}

const setModeFilter = 1 // SECCOMP_SET_MODE_FILTER

// addLimits sets each limit.
func addLimits(s *forkexec.Steps, list []Rlimit) {
	for _, r := range list {
		lim, err := r.within(0)
		if err != nil {
			lim = unix.Rlimit{Cur: r.Soft, Max: r.Hard}
		}
		s.Do(unix.SYS_PRLIMIT64, 0, uintptr(r.Resource), forkexec.Pin(s, &lim), 0)
	}
}

// fork makes the child, on the calling thread.
func (sp *spawn) fork() (err error) {
	sp.pid, err = sp.steps().Run()
	return err
}

// start forks, and calls ended on another goroutine when the child has ended and is
// still to be waited for.
func (sp *spawn) start(on *forkThread, ended func()) error {
	if err := on.do(func() error { return on.view.fork(sp) }); err != nil {
		return err
	}
	go func() {
		awaitEnd(sp.pid)
		ended()
	}()
	return nil
}

// awaitEnd waits until the child has ended, and leaves it to be reaped.
func awaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// closeInherited marks the descriptors that the host inherited to be closed on exec, for
// kernels without close_range(2); Go marks the others.
func closeInherited() {
	list, _ := os.ReadDir("/proc/self/fd")
	for _, e := range list {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// descriptors returns the raw descriptors of files, with null for nil ones.
func descriptors(files []*os.File, null *os.File) []int {
	fds := make([]int, len(files))
	for i, f := range files {
		if f == nil {
			f = null
		}
		fds[i] = int(f.Fd())
	}
	return fds
}
