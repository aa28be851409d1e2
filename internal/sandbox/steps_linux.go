package sandbox

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A call is one system call that a child makes between fork and exec. The
// assembly knows its layout.
type call struct {
	nr    uintptr
	args  [5]uintptr
	check uintptr
	want  uintptr
}

// What a call's result has to be.
const (
	mustWork  = 0 // no error
	mayFail   = 1 // anything
	mustEqual = 2 // want
)

// A report is what a child tells: its pid, and where and how it failed, by the
// call's address and its result.
type report struct {
	call, result uintptr
	child        int32
}

// A steps is what a child does between fork and exec: a list of system calls
// that is complete before the fork, because a child that shares the host's
// memory can run no Go.
type steps struct {
	list []call
	pins runtime.Pinner
}

func (s *steps) do(nr uintptr, args ...uintptr) { s.add(mustWork, 0, nr, args) }

func (s *steps) try(nr uintptr, args ...uintptr) { s.add(mayFail, 0, nr, args) }

func (s *steps) expect(want, nr uintptr, args ...uintptr) { s.add(mustEqual, want, nr, args) }

func (s *steps) add(check, want, nr uintptr, args []uintptr) {
	c := call{nr: nr, check: check, want: want}
	copy(c.args[:], args)
	s.list = append(s.list, c)
}

// pin returns an address that stays good until release.
func pin[T any](s *steps, p *T) uintptr {
	s.pins.Pin(p)
	return uintptr(unsafe.Pointer(p))
}

func (s *steps) text(v string) uintptr { return pin(s, &append([]byte(v), 0)[0]) }

// texts returns the address of a list of strings, as exec takes it.
func (s *steps) texts(list []string) uintptr {
	at := make([]uintptr, len(list)+1)
	for i, v := range list {
		at[i] = s.text(v)
	}
	return pin(s, &at[0])
}

func (s *steps) release() { s.pins.Unpin() }

// signals gives every signal its default action, which the host's handlers
// must not run instead once the mask is lifted.
func (s *steps) signals() {
	const last = 64
	action := pin(s, &[8]uint64{})
	for n := uintptr(1); n <= last; n++ {
		s.try(unix.SYS_RT_SIGACTION, n, action, 0, sigsetSize)
	}
}

// unmask lifts the signal mask that run sets.
func (s *steps) unmask() {
	s.do(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, pin(s, new([2]uint64)), 0, sigsetSize)
}

// The size of a signal set, and calls whose numbers differ.
var (
	sigsetSize  uintptr = 8
	nrSetgroups uintptr = unix.SYS_SETGROUPS
	nrSetresuid uintptr = unix.SYS_SETRESUID
	nrSetresgid uintptr = unix.SYS_SETRESGID
)

// move makes fds the child's descriptors 0, 1, 2, ..., and keeps those in keep
// that are not negative, and whose new numbers it returns.
func (s *steps) move(fds, keep []int) []int {
	from := slices.Concat(fds, keep)
	free := len(fds)
	next := func() int {
		for ; slices.Contains(from, free); free++ {
		}
		free++
		return free - 1
	}
	// What is in the way of a target goes elsewhere first.
	for i, fd := range from {
		if fd >= 0 && fd < len(fds) && fd != i {
			to := next()
			s.do(unix.SYS_DUP3, uintptr(fd), uintptr(to), unix.O_CLOEXEC)
			for j := range from {
				if from[j] == fd && j != fd {
					from[j] = to
				}
			}
		}
	}
	for i, fd := range from[:len(fds)] {
		if fd == i {
			s.do(unix.SYS_FCNTL, uintptr(fd), unix.F_SETFD, 0)
		} else {
			s.do(unix.SYS_DUP3, uintptr(fd), uintptr(i), 0)
		}
	}
	return from[len(fds):]
}

// run forks, and returns the child's pid once it has called exec or failed.
func (s *steps) run() (pid int, err error) {
	defer s.release()
	// Where the child has a copy of the host's memory (vfork_linux_other.go), this is
	// the only way for it to tell.
	shared, err := unix.Mmap(-1, 0, int(unsafe.Sizeof(report{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(shared)
	rep := (*report)(unsafe.Pointer(&shared[0]))
	first := pin(s, &s.list[0])
	end := first + uintptr(len(s.list))*unsafe.Sizeof(call{})

	// A handler of the host's that ran in the child would change the host.
	all, old := [2]uint64{^uint64(0), ^uint64(0)}, [2]uint64{}
	mask := func(set, old *[2]uint64) {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), sigsetSize, 0, 0)
	}
	rescue := newRescue(&rep.child)
	mask(&all, &old)
	r := vforkAside(vforkFlags, first, end, uintptr(unsafe.Pointer(&rep.call)), uintptr(unsafe.Pointer(&rep.child)))
	mask(&old, nil)
	givenUp := rescue.end()
	if e := -int64(r); e > 0 && e < 4096 {
		return 0, unix.Errno(e)
	}
	if rep.call == 0 && !givenUp {
		return int(r), nil
	}
	reap(int(r), nil)
	if givenUp {
		return 0, errStopped
	}
	if e := -int64(rep.result); e > 0 && e < 4096 {
		return 0, unix.Errno(e)
	}
	return 0, unix.ESRCH
}
