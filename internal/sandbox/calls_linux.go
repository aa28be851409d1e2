package sandbox

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/procfs"
)

// calls yields what system calls the threads of a process wait in: the call's number
// and its arguments; see proc_pid_syscall(5).
func calls(pid int, r *reading, yield func(nr uint64, args []string) bool) {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if r.over() {
			return
		}
		b, _ := procfs.File(pid, "task/"+name+"/syscall")
		f := strings.Fields(string(b))
		if len(f) < 7 {
			continue // it runs
		}
		if nr, err := strconv.ParseUint(f[0], 10, 64); err == nil && !yield(nr, f[1:7]) {
			return
		}
	}
}

// sends reports whether a thread of a process waits in a call that holds a file of
// which no descriptor need be left: to copy from it, or for a lock on it.
func sends(pid int, r *reading) (found bool) {
	calls(pid, r, func(nr uint64, args []string) bool {
		lock := nr == unix.SYS_FCNTL && slices.Contains([]string{"0x7", "0x26"}, args[1]) // F_SETLKW, F_OFD_SETLKW
		found = lock || nr == unix.SYS_SENDFILE || nr == unix.SYS_SPLICE || nr == unix.SYS_TEE || nr == unix.SYS_FLOCK
		return !found
	})
	return found || r.done
}

// polled is how many sockets the threads of a process can wait for, with descriptors
// that they need not have any more.
func polled(pid int, r *reading) (n int64) {
	calls(pid, r, func(nr uint64, args []string) bool {
		if at, ok := polls[nr]; ok {
			k, _ := strconv.ParseUint(args[at], 0, 64)
			n += int64(min(k, 1<<20))
		}
		return true
	})
	return n
}
