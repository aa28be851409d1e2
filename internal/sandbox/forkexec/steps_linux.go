// Package forkexec forks a child that makes a prepared list of system calls and then
// executes a program, without running Go code in between.
package forkexec

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
	"syscall"
)

// A call is one system call that a child makes between fork and exec. The
// assembly knows its layout.
type call struct {
	nr    uintptr
	args  [5]uintptr
	check uintptr
	want  uintptr
}

// Checks of a call's result.
const (
	mustWork  = 0 // no error
	mayFail   = 1 // anything
	mustEqual = 2 // want
)

// A report says where and how a child failed, by the call's address and its result.
type report struct{ call, result uintptr }

// Steps is what a child does between fork and exec: a list of system calls
// that is complete before the fork, because a child that shares the host's
// memory can run no Go.
type Steps struct {
	list []call
	pins runtime.Pinner
}

// Do adds a call that must succeed.
func (s *Steps) Do(nr uintptr, args ...uintptr) { s.add(mustWork, 0, nr, args) }

// Try adds a call that may fail.
func (s *Steps) Try(nr uintptr, args ...uintptr) { s.add(mayFail, 0, nr, args) }

// Expect adds a call that must return want.
func (s *Steps) Expect(want, nr uintptr, args ...uintptr) { s.add(mustEqual, want, nr, args) }

func (s *Steps) add(check, want, nr uintptr, args []uintptr) {
	c := call{nr: nr, check: check, want: want}
	copy(c.args[:], args)
	s.list = append(s.list, c)
}

// Pin returns an address that stays good until release.
func Pin[T any](s *Steps, p *T) uintptr {
	s.pins.Pin(p)
	return uintptr(unsafe.Pointer(p))
}

// Text returns the address of a string, as system calls take it.
func (s *Steps) Text(v string) uintptr { return Pin(s, &append([]byte(v), 0)[0]) }

// Texts returns the address of a list of strings, as exec takes it.
func (s *Steps) Texts(list []string) uintptr {
	at := make([]uintptr, len(list)+1)
	for i, v := range list {
		at[i] = s.Text(v)
	}
	return Pin(s, &at[0])
}

func (s *Steps) release() { s.pins.Unpin() }

// Signals gives every signal its default action, which the host's handlers
// must not run instead once the mask is lifted.
func (s *Steps) Signals() {
	const last = 64
	action := Pin(s, &[8]uint64{})
	for n := uintptr(1); n <= last; n++ {
		s.Try(unix.SYS_RT_SIGACTION, n, action, 0, sigsetSize)
	}
}

// Ignore lets a signal do nothing, in the program too.
func (s *Steps) Ignore(sig unix.Signal) {
	s.Do(unix.SYS_RT_SIGACTION, uintptr(sig), Pin(s, &[8]uint64{ignore}), 0, sigsetSize)
}

const ignore = 1 // SIG_IGN

// Unmask lifts the signal mask that run sets.
func (s *Steps) Unmask() {
	s.Do(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, Pin(s, new([2]uint64)), 0, sigsetSize)
}

const sigsetSize = 8

// Move makes fds the child's descriptors 0, 1, 2, ..., and keeps those in keep that are
// not negative, whose new numbers it returns.
func (s *Steps) Move(fds, keep []int) []int {
	from := slices.Concat(fds, keep)
	// All go out of the way first: they can be targets.
	free := max(slices.Max(from), len(fds)) + 1
	to := slices.Clone(keep)
	for i, fd := range from {
		if fd < 0 {
			continue
		}
		s.Do(unix.SYS_DUP3, uintptr(fd), uintptr(free+i), unix.O_CLOEXEC)
		if i >= len(fds) {
			to[i-len(fds)] = free + i
		}
	}
	for i := range fds {
		s.Do(unix.SYS_DUP3, uintptr(free+i), uintptr(i), 0)
	}
	return to
}

// Run forks, and returns the child's pid once it has called exec or failed.
func (s *Steps) Run() (pid int, err error) {
	defer s.release()
	rep := &report{}
	failed := Pin(s, rep)
	first := Pin(s, &s.list[0])
	end := first + uintptr(len(s.list))*unsafe.Sizeof(call{})

	// The mask is the thread's: a goroutine that went on elsewhere would leave its thread
	// with all signals blocked, on which the next fault ends the host.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A handler of the host's that ran in the child would change the host.
	all, old := [2]uint64{^uint64(0), ^uint64(0)}, [2]uint64{}
	mask := func(set, old *[2]uint64) {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), sigsetSize, 0, 0)
	}
	mask(&all, &old)
	r := vforkAside(vforkFlags, first, end, failed)
	mask(&old, nil)
	if e := -int64(r); e > 0 && e < 4096 {
		return 0, unix.Errno(e)
	}
	if rep.call == 0 {
		return int(r), nil
	}
	Reap(int(r), nil)
	if e := -int64(rep.result); e > 0 && e < 4096 {
		return 0, unix.Errno(e)
	}
	return 0, unix.ESRCH
}

// Reap waits for a child that has ended, or is about to.
func Reap(pid int, ru *syscall.Rusage) syscall.WaitStatus {
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, ru); err != syscall.EINTR {
			return ws
		}
	}
}
