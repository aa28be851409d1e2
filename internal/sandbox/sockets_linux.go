package sandbox

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// socketBuffer is the most that the kernel holds of what was sent through one
// socket and not received: the size that sockets begin with, which programs
// cannot change, and the piece that goes beyond it, with what manages both.
func socketBuffer() int64 {
	const usual = 212992
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 2 * usual
	}
	defer unix.Close(fd)
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil || n <= 0 {
		n = usual
	}
	return 2 * int64(n)
}

// buffers is the most that sockets can hold for the tree, if all of the places
// for descriptors that its processes have are full of them.
func (u *usage) buffers() int64 { return u.places * u.p.s.watch.perSocket }

// sockets counts those that any of the processes holds open.
func sockets(pids []int) int64 {
	end := time.Now().Add(filesBudget)
	seen := map[string]struct{}{}
	for _, i := range rand.Perm(len(pids)) {
		addSockets(pids[i], seen, end)
		if time.Now().After(end) {
			break
		}
	}
	return int64(len(seen))
}

func addSockets(pid int, seen map[string]struct{}, end time.Time) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for i, name := range names {
		if i%64 == 63 && time.Now().After(end) {
			return
		}
		if link, err := os.Readlink(dir + "/" + name); err == nil && strings.HasPrefix(link, "socket:") {
			seen[link] = struct{}{}
		}
	}
}
