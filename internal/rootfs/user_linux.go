package rootfs

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// Do calls f with the rights of u: what f opens and makes is judged by the
// kernel as if u did it, and is u's. Where u is nil, f has the host's.
func (u *User) Do(f func()) error {
	if u == nil {
		f()
		return nil
	}
	// The fsuid and the groups are the thread's (setfsuid(2)); golang.org/x/sys
	// sets the groups of the calling thread alone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	groups, err := unix.Getgroups()
	if err == nil {
		err = unix.Setgroups([]int{u.GID})
	}
	if err != nil {
		return fmt.Errorf("%w: files of another user: %w", codeinterp.ErrUnavailable, err)
	}
	gid, _ := unix.SetfsgidRetGid(u.GID)
	uid, _ := unix.SetfsuidRetUid(u.UID)
	defer func() {
		_, _ = unix.SetfsuidRetUid(uid)
		_, _ = unix.SetfsgidRetGid(gid)
		// The thread goes back to other goroutines, which are not to have these
		// rights.
		if now, _ := unix.SetfsuidRetUid(-1); now != uid || unix.Setgroups(groups) != nil {
			panic("rootfs: this thread cannot become the host's user again")
		}
	}()
	// setfsuid reports no error; -1 changes nothing and returns what it is.
	if now, _ := unix.SetfsuidRetUid(-1); now != u.UID {
		return fmt.Errorf("%w: files of another user", codeinterp.ErrUnavailable)
	}
	f()
	return nil
}
